import { createAddressPolicy, IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE, REFUSED_BESIDES } from './address-policy.ts';
import { toAuthority } from './create-proxy.ts';
import { BlockedAddressError } from './egress-errors.ts';

const publicOnly = createAddressPolicy({ allowCidrs: [] });
const everything = createAddressPolicy({ allowCidrs: ['0.0.0.0/0', '::/0'] });

test.each([
  ['93.184.215.14', 443, '93.184.215.14:443'],
  ['2606:4700::1111', 8443, '[2606:4700::1111]:8443'],
  ['2606:4700:0:0:0:0:0:1111', 443, '[2606:4700::1111]:443'],
  ['2606:4700::1.2.3.4', 443, '[2606:4700::102:304]:443'],
  ['::ffff:1.1.1.1', 443, '1.1.1.1:443'],
])('%s is asked for at %i as %s', (address, port, authority) => {
  expect(toAuthority(publicOnly, address, port)).toBe(authority);
});

/** The first address of each range that the guard knows as not public. */
const FORBIDDEN = [
  ...[...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE].filter((row) => row[3] !== true).map(([prefix]) => prefix),
  ...REFUSED_BESIDES,
].map((prefix) => prefix.split('/')[0] ?? '');

test('the corpus has every range of the registries', () => {
  expect(FORBIDDEN.length).toBeGreaterThan(40);
});

test.each([
  ...FORBIDDEN,
  '127.0.0.1',
  '::1',
  '10.0.0.1',
  '169.254.169.254',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
])('%s is never asked for', (address) => {
  expect(() => toAuthority(publicOnly, address, 443)).toThrow(BlockedAddressError);
});

test.each([
  'receiver.test',
  'localhost',
  '',
  '1.1.1.1:80',
  '1.1.1.1 HTTP/1.1\r\nHost: x',
  '1.1.1.1\r\nx: y',
  '1.1.1.1#',
  '1.1.1.1/',
  '1.1.1.1@10.0.0.1',
  '[2606:4700::1111]',
  '2606:4700::1111]:80',
  '0x7f.1',
  '2130706433',
  '0177.0.0.1',
  '１.1.1.1',
  'fe80::1%eth0',
  'fe80::1%eth0\r\nx: y',
  '0.0.0.0',
  '::',
  '::ffff:0.0.0.0',
])('%j is no address of another machine, whatever is allowed', (address) => {
  expect(() => toAuthority(everything, address, 443)).toThrow(BlockedAddressError);
});

test.each([0, -1, 65_536, 1.5, NaN, Infinity, 22, 25, 6667])('port %d is never asked for', (port) => {
  expect(() => toAuthority(everything, '1.1.1.1', port)).toThrow(`port ${port} is not allowed`);
});
