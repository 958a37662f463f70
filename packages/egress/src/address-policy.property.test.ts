import fc from 'fast-check';
import { createAddressPolicy } from './address-policy.ts';

const hex = (...bytes: number[]) => Buffer.from(bytes).toString('hex');
const inverted = (bytes: number[]) => bytes.map((byte) => byte ^ 0xff);

/** Sixteen bytes as an IPv6 address, in one of the ways to write it. */
function write(groups: string, isDotted: boolean): string {
  const parts = groups.match(/.{4}/g) ?? [];
  if (!isDotted) return parts.join(':');
  const bytes = Buffer.from(groups.slice(24), 'hex');
  return `${parts.slice(0, 6).join(':')}:${[...bytes].join('.')}`;
}

type Carrier = { name: string; wrap: (ipv4: number[], noise: string) => string };

/** Every form in which an IPv6 address leads to an IPv4 one. `noise` is 32 digits for what the form leaves free. */
const CARRIERS: readonly Carrier[] = [
  { name: 'IPv4-mapped', wrap: (ipv4) => `${'0'.repeat(20)}ffff${hex(...ipv4)}` },
  { name: 'IPv4-compatible', wrap: (ipv4) => `${'0'.repeat(24)}${hex(...ipv4)}` },
  { name: 'IPv4-translated', wrap: (ipv4) => `${'0'.repeat(16)}ffff0000${hex(...ipv4)}` },
  { name: 'NAT64', wrap: (ipv4) => `0064ff9b${'0'.repeat(16)}${hex(...ipv4)}` },
  { name: 'local NAT64', wrap: (ipv4, noise) => `0064ff9b0001${noise.slice(0, 12)}${hex(...ipv4)}` },
  { name: '6to4', wrap: (ipv4, noise) => `2002${hex(...ipv4)}${noise.slice(0, 20)}` },
  { name: 'Teredo server', wrap: (ipv4, noise) => `20010000${hex(...ipv4)}${noise.slice(0, 16)}` },
  { name: 'Teredo client', wrap: (ipv4, noise) => `20010000${noise.slice(0, 16)}${hex(...inverted(ipv4))}` },
  { name: 'ISATAP', wrap: (ipv4, noise) => `26064700${noise.slice(0, 8)}00005efe${hex(...ipv4)}` },
  { name: 'ISATAP, universal', wrap: (ipv4, noise) => `2${noise.slice(0, 15)}02005efe${hex(...ipv4)}` },
];

const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });
const ipv4 = fc.oneof(
  bytes,
  bytes.map(([, b = 0, c = 0, d = 0]) => [10, b, c, d]),
  bytes.map(([, b = 0, c = 0, d = 0]) => [127, b, c, d]),
  bytes.map(([, , c = 0, d = 0]) => [169, 254, c, d]),
  bytes.map(([, b = 0, c = 0, d = 0]) => [100, 64 + (b % 64), c, d]),
);
const noise = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((free) => hex(...free));
const openings = fc.constantFrom<string[]>([], ['127.0.0.0/8'], ['64:ff9b::/96'], ['::/0'], ['10.0.0.0/8', '2000::/3']);

test.each(CARRIERS)('$name is judged no less strictly than the IPv4 address it leads to', ({ wrap }) => {
  fc.assert(
    fc.property(ipv4, noise, fc.boolean(), openings, (address, digits, isDotted, allowCidrs) => {
      const policy = createAddressPolicy({ allowCidrs });
      const carrier = write(wrap(address, digits), isDotted);
      // The unspecified and the loopback address are IPv6's own, and no IPv4-compatible ones.
      fc.pre(!/^(0+:){6,7}(0{0,3}[01]|0\.0\.0\.[01])$/.test(carrier));
      return !policy.isAllowed(carrier) || policy.isAllowed(address.join('.'));
    }),
    { numRuns: 500 },
  );
});

test('outside 2000::/3 nothing but an IPv4-mapped address is public', () => {
  const publicOnly = createAddressPolicy({ allowCidrs: [] });
  fc.assert(
    fc.property(fc.ipV6(), (address) => {
      const isMapped = /^(0*:)+ffff:[^:]*(:[^:]*)?$/i.test(address);
      return isMapped || /^[23][0-9a-f]{3}:/i.test(address) || !publicOnly.isAllowed(address);
    }),
    { numRuns: 2_000 },
  );
});
