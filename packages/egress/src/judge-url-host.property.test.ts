import { RegisterReceiver } from '@herald/core';
import fc from 'fast-check';
import { BlockList, isIP } from 'node:net';
import { createEndpointUrlJudge } from './judge-url-host.ts';

/** Node's own reading of what is not public, so that the policy isn't judged by itself. */
const notPublic = new BlockList();
for (const range of ['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12']) {
  addRange(range, 'ipv4');
}
for (const range of ['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3']) addRange(range, 'ipv4');
for (const range of ['::/96', '::ffff:0:0:0/96', '64::/16', '2001::/23', '2002::/16', '2001:db8::/32', 'fc00::/6'])
  addRange(range, 'ipv6');

function addRange(range: string, family: 'ipv4' | 'ipv6'): void {
  const [network = '', length] = range.split('/');
  notPublic.addSubnet(network, Number(length), family);
}

const judge = createEndpointUrlJudge({ allowCidrs: [] });
const isAccepted = (url: string) => RegisterReceiver.safeParse({ url }).success && judge(url) === undefined;

const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 10, 127, 169, 172, 192, 254));
const ipv4 = fc.tuple(byte, byte, byte, byte);
const notation = fc.constantFrom<(value: number) => string>(
  (value) => String(value),
  (value) => `0x${value.toString(16)}`,
  (value) => `0${value.toString(8)}`,
  (value) => String(value).padStart(4, '0'),
  (value) => String(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (value) => String(value).replaceAll(/\d/g, (digit) => `%3${digit}`),
);
const dot = fc.constantFrom('.', '。', '．', '｡', '%2e');
const literal = fc.oneof(
  fc.tuple(ipv4, notation, dot).map(([bytes, write, separator]) => bytes.map(write).join(separator)),
  fc.tuple(ipv4, notation).map(([bytes, write]) => write(Buffer.from(bytes).readUInt32BE())),
  fc.tuple(ipv4, notation).map(([[a, b, c, d], write]) => `${write(a)}.${write((b << 16) | (c << 8) | d)}`),
  fc
    .tuple(ipv4, fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::'))
    .map(([bytes, prefix]) => `[${prefix}${bytes.join('.')}]`),
  fc.ipV6().map((address) => `[${address}]`),
);
const host = fc.oneof(
  literal,
  fc.domain(),
  fc.constantFrom('localhost', 'LOCALHOST', 'api.localhost', 'ⓛocalhost', 'printer.local', 'intranet'),
  fc.string({
    unit: fc.constantFrom(...['.', '1', '0', 'x', 'a', ':', '@', '[', ']', '%', '/', '\\', '。', '１', '#', '?']),
  }),
);
/** Mostly the plain thing, so that the rest of the url gets its turn. */
const mostly = (plain: string, ...odd: string[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const url = fc
  .tuple(
    mostly('https://', 'https:', 'https:/', 'https:\\\\', 'http://', 'HTTPS://', ' https://'),
    mostly('', 'user@', '@', '1.1.1.1@', 'a:b@'),
    host,
    mostly('', '.', ':', ':443', ':0', ':22', ':8443', ':0443', ':99999'),
    mostly('/hook', '', '/', '?a', '#b', '\\x', '/@', '/\t'),
  )
  .map((parts) => parts.join(''));

test('no url that is registered leads to an address that is not public, to this machine, or elsewhere than it says', () => {
  let accepted = 0;
  fc.assert(
    fc.property(url, (text) => {
      if (!isAccepted(text)) return true;
      accepted++;
      const { protocol, hostname, username, password, port } = new URL(text);
      const address = hostname.replace(/^\[|\]$/g, '');
      const isHarmless =
        isIP(address) === 0
          ? hostname.includes('.') && !/(^|\.)localhost$/.test(hostname)
          : !notPublic.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
      const isAsWritten = text.toLowerCase().startsWith(`https://${hostname.startsWith('[') ? '[' : hostname}`);
      return (
        isHarmless && isAsWritten && protocol === 'https:' && username + password === '' && !['0', '22'].includes(port)
      );
    }),
    { numRuns: 5_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});
