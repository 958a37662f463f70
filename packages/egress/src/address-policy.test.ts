import { canonicalAddress, createAddressPolicy } from './address-policy.ts';

const publicOnly = createAddressPolicy({ allowCidrs: [] });

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '168.63.129.15',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:800::200e',
  '2001:200::1',
  '::ffff:1.1.1.1',
  '::ffff:101:101',
  '2606:4700::5efe:1.1.1.1',
  '2606:4700::5eff:7f00:1',
])('%s is public', (address) => {
  expect(publicOnly.isAllowed(address)).toBe(true);
});

test.each([
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.255.1', 'fc00::1', 'fd00:ec2::254'],
  ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
  ['link-local', '169.254.0.1', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  ['shared (CGNAT)', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['protocol assignments', '192.0.0.192', '2001::1', '2001:1ff:ffff::1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['AS112 and AMT', '192.31.196.1', '192.175.48.1', '192.52.193.1', '2620:4f:8000::1', '2001:3::1', '2001:4:112::1'],
  ['relay anycast', '192.88.99.1'],
  ['multicast', '224.0.0.1', '239.255.255.255', 'ff02::1'],
  ['reserved', '240.0.0.1', '255.255.255.255'],
  ['a metadata service', '168.63.129.16'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '0:0:0:0:0:ffff:a9fe:a9fe'],
  ['IPv4-compatible', '::7f00:1', '::127.0.0.1', '::1.1.1.1'],
  ['IPv4-translated', '::ffff:0:127.0.0.1', '::ffff:0:1.1.1.1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::101:101', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::1', '2002:101:101::1'],
  ['Teredo', '2001:0:101:101::1'],
  ['ISATAP', '2606:4700::5efe:127.0.0.1', '2606:4700::200:5efe:10.0.0.1', '2606:4700:1:2:300:5efe:a9fe:a9fe'],
  ['a zone', '2606:4700::1%lo', '::ffff:1.1.1.1%lo'],
  ['ORCHID', '2001:10::1', '2001:20::1', '2001:30::1'],
  ['segment routing', '5f00::1'],
  ['discard', '100::1'],
  ['site-local', 'fec0::1'],
  ['unallocated', '4000::1', '8000::1', 'e000::1'],
  [
    'not an address as a resolver writes it',
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x08.8.8.8',
    '010.8.8.8',
    '8.8.8.8.',
    '[2606::1]',
    '8.8.8.8/32',
  ],
])('%s: none of its addresses is allowed', (_range, ...addresses) => {
  expect(addresses.filter((address) => publicOnly.isAllowed(address))).toEqual([]);
});

test.each([
  {
    cidr: '10.1.0.0/16',
    opens: ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203'],
    leaves: ['10.2.0.1', '::ffff:10.2.0.1', '127.0.0.1'],
  },
  { cidr: '127.0.0.1/32', opens: ['127.0.0.1'], leaves: ['127.0.0.2', '::1'] },
  { cidr: 'fd00:1::/32', opens: ['fd00:1::1'], leaves: ['fd00:2::1', '10.0.0.1'] },
  { cidr: '::1/128', opens: ['::1'], leaves: ['127.0.0.1', '::2'] },
  {
    cidr: '::ffff:10.1.0.0/112',
    opens: ['10.1.2.3', '::ffff:10.1.2.3'],
    leaves: ['10.2.0.1', '::ffff:10.2.0.1', '::10.1.2.3', '64:ff9b::10.1.2.3'],
  },
  {
    cidr: '127.0.0.0/8',
    opens: ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
    leaves: ['::127.0.0.1', '::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '::1'],
  },
  {
    cidr: '64:ff9b::/96',
    opens: ['64:ff9b::1.1.1.1', '64:ff9b::808:808'],
    leaves: ['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b:1::1.1.1.1'],
  },
  {
    cidr: '::/0',
    opens: ['fd00::1', '::1', '2002:808:808::'],
    leaves: ['10.0.0.1', '::ffff:10.0.0.1', '2002:a00:1::', '::10.0.0.1', 'fd00::5efe:10.0.0.1'],
  },
  { cidr: 'fe80::/10', opens: ['fe80::1', 'fe80::1%eth0'], leaves: ['fe80::5efe:10.0.0.1', 'fd00::1'] },
  { cidr: '0.0.0.0/0', opens: ['10.0.0.1', '169.254.169.254', '::ffff:10.0.0.1'], leaves: ['::1'] },
])('$cidr opens itself and nothing beside', ({ cidr, opens, leaves }) => {
  const policy = createAddressPolicy({ allowCidrs: [cidr] });
  expect(opens.filter((address) => !policy.isAllowed(address))).toEqual([]);
  expect(leaves.filter((address) => policy.isAllowed(address))).toEqual([]);
  expect(policy.isAllowed('1.1.1.1')).toBe(true);
});

test.each([
  '',
  'all',
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10/8',
  '010.0.0.0/8',
  '::/129',
  '10.0.0.0/-1',
  '10.0.0.0/255.0.0.0',
  '::ffff:0:0/95',
  'fe80::%eth0/64',
])('the range "%s" is refused by name', (cidr) => {
  expect(() => createAddressPolicy({ allowCidrs: ['10.0.0.0/8', cidr] })).toThrow(`"${cidr}"`);
});

test('two spellings of one address are the same', () => {
  expect(canonicalAddress('::ffff:7f00:1')).toBe(canonicalAddress('127.0.0.1'));
  expect(canonicalAddress('2606:4700:0:0::1')).toBe(canonicalAddress('2606:4700::1'));
  expect(canonicalAddress('::1.1.1.1')).toBe(canonicalAddress('::101:101'));
  expect(canonicalAddress('::1.1.1.1')).not.toBe(canonicalAddress('1.1.1.1'));
  expect(canonicalAddress('localhost')).toBeUndefined();
});

test.each([
  ['6to4', '2002:808:808:0:0:5efe:7f00:1'],
  ['Teredo', '2001:0:808:808:200:5efe:6440:0'],
])('an ISATAP address under a prefix of %s is judged by both addresses that it carries', (_name, address) => {
  expect(createAddressPolicy({ allowCidrs: ['::/0'] }).isAllowed(address)).toBe(false);
  expect(createAddressPolicy({ allowCidrs: ['::/0', '0.0.0.0/0'] }).isAllowed(address)).toBe(true);
});

describe('a range that is closed', () => {
  const policy = createAddressPolicy({
    allowCidrs: ['10.0.0.0/8', '64:ff9b::/96'],
    denyCidrs: ['10.1.0.0/16', '93.184.215.0/24', '2606:4700::/32', '::ffff:8.8.8.0/120'],
  });
  test.each([
    ['93.184.215.14', false],
    ['93.184.216.14', true],
    ['::ffff:93.184.215.14', false],
    ['64:ff9b::5db8:d70e', false],
    ['64:ff9b::5db8:d80e', true],
    ['2606:4700::1111', false],
    ['2606:4701::1111', true],
    ['8.8.8.8', false],
    ['10.1.2.3', false],
    ['10.2.2.3', true],
  ])('%s is allowed: %p', (address, isAllowed) => {
    expect(policy.isAllowed(address)).toBe(isAllowed);
  });

  test('must be a range', () => {
    expect(() => createAddressPolicy({ allowCidrs: [], denyCidrs: ['1.2.3.4'] })).toThrow('"1.2.3.4"');
  });
});
