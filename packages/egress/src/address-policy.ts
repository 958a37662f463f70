import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A row of a registry. `globallyReachable` is null where its column is blank or "N/A": that is no promise. */
export type RegistryRow = readonly [prefix: string, name: string, source: string, globallyReachable: boolean | null];

/**
 * Every row of the IANA IPv4 Special-Purpose Address Registry, as of 2026-07-18 (last updated 2025-10-09).
 * https://www.iana.org/assignments/iana-ipv4-special-registry/iana-ipv4-special-registry-1.csv
 */
export const IPV4_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['0.0.0.0/8', 'This network', 'RFC 791, 3.2', false],
  ['0.0.0.0/32', 'This host on this network', 'RFC 1122, 3.2.1.3', false],
  ['10.0.0.0/8', 'Private-Use', 'RFC 1918', false],
  ['100.64.0.0/10', 'Shared Address Space', 'RFC 6598', false],
  ['127.0.0.0/8', 'Loopback', 'RFC 1122, 3.2.1.3', false],
  ['169.254.0.0/16', 'Link Local', 'RFC 3927', false],
  ['172.16.0.0/12', 'Private-Use', 'RFC 1918', false],
  ['192.0.0.0/24', 'IETF Protocol Assignments', 'RFC 6890, 2.1', false],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix', 'RFC 7335', false],
  ['192.0.0.8/32', 'IPv4 dummy address', 'RFC 7600', false],
  ['192.0.0.9/32', 'Port Control Protocol Anycast', 'RFC 7723', true],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast', 'RFC 8155', true],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050, 2.2', false],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery', 'RFC 8880, RFC 7050, 2.2', false],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1)', 'RFC 5737', false],
  ['192.31.196.0/24', 'AS112-v4', 'RFC 7535', true],
  ['192.52.193.0/24', 'AMT', 'RFC 7450', true],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)', 'RFC 7526', null],
  ['192.88.99.2/32', '6a44-relay anycast address', 'RFC 6751', false],
  ['192.168.0.0/16', 'Private-Use', 'RFC 1918', false],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service', 'RFC 7534', true],
  ['198.18.0.0/15', 'Benchmarking', 'RFC 2544', false],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2)', 'RFC 5737', false],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3)', 'RFC 5737', false],
  ['240.0.0.0/4', 'Reserved', 'RFC 1112, 4', false],
  ['255.255.255.255/32', 'Limited Broadcast', 'RFC 8190, RFC 919, 7', false],
];

/**
 * Every row of the IANA IPv6 Special-Purpose Address Registry, as of 2026-07-18 (last updated 2025-10-09).
 * https://www.iana.org/assignments/iana-ipv6-special-registry/iana-ipv6-special-registry-1.csv
 */
export const IPV6_SPECIAL_PURPOSE: readonly RegistryRow[] = [
  ['::1/128', 'Loopback Address', 'RFC 4291', false],
  ['::/128', 'Unspecified Address', 'RFC 4291', false],
  ['::ffff:0:0/96', 'IPv4-mapped Address', 'RFC 4291', false],
  ['64:ff9b::/96', 'IPv4-IPv6 Translat.', 'RFC 6052', true],
  ['64:ff9b:1::/48', 'IPv4-IPv6 Translat.', 'RFC 8215', false],
  ['100::/64', 'Discard-Only Address Block', 'RFC 6666', false],
  ['100:0:0:1::/64', 'Dummy IPv6 Prefix', 'RFC 9780', false],
  ['2001::/23', 'IETF Protocol Assignments', 'RFC 2928', false],
  ['2001::/32', 'TEREDO', 'RFC 4380, RFC 8190', null],
  ['2001:1::1/128', 'Port Control Protocol Anycast', 'RFC 7723', true],
  ['2001:1::2/128', 'Traversal Using Relays around NAT Anycast', 'RFC 8155', true],
  ['2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast', 'RFC 9665', true],
  ['2001:2::/48', 'Benchmarking', 'RFC 5180, erratum 1752', false],
  ['2001:3::/32', 'AMT', 'RFC 7450', true],
  ['2001:4:112::/48', 'AS112-v6', 'RFC 7535', true],
  ['2001:10::/28', 'Deprecated (previously ORCHID)', 'RFC 4843', null],
  ['2001:20::/28', 'ORCHIDv2', 'RFC 7343', true],
  ['2001:30::/28', 'Drone Remote ID Protocol Entity Tags (DETs) Prefix', 'RFC 9374', true],
  ['2001:db8::/32', 'Documentation', 'RFC 3849', false],
  ['2002::/16', '6to4', 'RFC 3056', null],
  ['2620:4f:8000::/48', 'Direct Delegation AS112 Service', 'RFC 7534', true],
  ['3fff::/20', 'Documentation', 'RFC 9637', false],
  ['5f00::/16', 'Segment Routing (SRv6) SIDs', 'RFC 9602', false],
  ['fc00::/7', 'Unique-Local', 'RFC 4193, RFC 8190', false],
  ['fe80::/10', 'Link-Local Unicast', 'RFC 4291', false],
];

/**
 * Ranges that are refused although no registry calls them unreachable. The nearest node of an anycast service may stand
 * in the worker's own network. Identifiers are not locations. Multicast has registries of its own.
 */
export const REFUSED_BESIDES: readonly string[] = [
  // Multicast: RFC 5771, RFC 4291.
  ...['224.0.0.0/4', 'ff00::/8'],
  // Azure's host agent, inside every virtual machine: a metadata service at an address that looks public.
  '168.63.129.16/32',
  // Anycast services: PCP, TURN, DNS-SD registration, AMT relays, AS112 sinks.
  ...['192.0.0.9/32', '192.0.0.10/32', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
  ...['2001:1::1/128', '2001:1::2/128', '2001:1::3/128', '2001:3::/32', '2001:4:112::/48', '2620:4f:8000::/48'],
  // Identifiers: ORCHIDv2, drones.
  ...['2001:20::/28', '2001:30::/28'],
  // Gateways to IPv4, each with its own rules about the addresses that it reaches.
  ...['64:ff9b::/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
];

/** Decides which addresses a worker may dial. */
export type AddressPolicy = {
  /** Takes an address as a resolver or a socket writes it, not as a URL may. Any other text is not allowed. */
  readonly isAllowed: (address: string) => boolean;
};

/** What an operator opens and closes. */
export type AddressRanges = {
  /** Ranges to open although they are not public. */
  readonly allowCidrs: readonly string[];
  /** Ranges to close although they are public. They win over the others. */
  readonly denyCidrs?: readonly string[] | undefined;
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = readonly [network: Address, prefixLength: number];
type Block = { readonly cidr: Cidr; readonly globallyReachable: boolean | null };

/** The only range from which IANA assigns addresses of the public Internet. */
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR('2000::/3');
const BESIDES = REFUSED_BESIDES.map((prefix) => ipaddr.parseCIDR(prefix));
/** The most specific first. */
const BLOCKS: readonly Block[] = [...IPV4_SPECIAL_PURPOSE, ...IPV6_SPECIAL_PURPOSE]
  .map(([prefix, , , globallyReachable]) => ({ cidr: ipaddr.parseCIDR(prefix), globallyReachable }))
  .sort((one, other) => other.cidr[1] - one.cidr[1]);

/**
 * Allows public addresses only, by the column "Globally Reachable" of IANA's special-purpose registries, and the ranges
 * of `allowCidrs`. An IPv4-mapped address counts as the IPv4 address that the kernel would dial, and a range in that
 * form opens the same addresses. An address that carries an IPv4 address in any other way is allowed only if the IPv4
 * address is too: to open NAT64 opens public IPv4 and no more, and to open loopback opens the loopback of no gateway.
 * Whatever leads into a range of `denyCidrs`, by any of these ways, is refused.
 * @throws an Error that names the range when one of them is malformed
 */
export function createAddressPolicy({ allowCidrs, denyCidrs = [] }: AddressRanges): AddressPolicy {
  const opened = allowCidrs.map(parseRange);
  const closed = denyCidrs.map(parseRange);
  const isAllowed = (address: Address): boolean => {
    if (closed.some((cidr) => contains(cidr, address))) return false;
    if (!opened.some((cidr) => contains(cidr, address)) && !isPublic(address)) return false;
    return address instanceof ipaddr.IPv4 || carriedIpv4(address).every(isAllowed);
  };
  return {
    isAllowed(text) {
      const address = parseAddress(text);
      return address !== undefined && isAllowed(address);
    },
  };
}

/** The one spelling of an address that can be compared with others; undefined when the text is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function parseAddress(text: string): Address | undefined {
  // ipaddr.js alone would also read `0177.0.0.1` and `2130706433`, perhaps as other addresses than the system does.
  const family = isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return ipaddr.IPv4.parse(text);
  // ipaddr.js takes `::1.1.1.1` for `::ffff:1.1.1.1`. Hexadecimal groups are unambiguous.
  const address = ipaddr.IPv6.parse(text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)/, toGroups));
  if (!address.isIPv4MappedAddress()) return address;
  return address.zoneId === undefined ? address.toIPv4Address() : undefined;
}

function toGroups(_dotted: string, ...bytes: readonly string[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv6) {
    // A zone selects an interface of this machine. No public address needs one.
    if (address.zoneId !== undefined || !contains(GLOBAL_UNICAST_V6, address)) return false;
  }
  const block = BLOCKS.find(({ cidr }) => contains(cidr, address));
  if (block !== undefined && block.globallyReachable !== true) return false;
  return !BESIDES.some((cidr) => contains(cidr, address));
}

function contains([network, prefixLength]: Cidr, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength);
}

function parseRange(text: string): Cidr {
  const [network = '', prefixLength, ...rest] = text.split('/');
  const isWellFormed =
    isIP(network) !== 0 && prefixLength !== undefined && rest.length === 0 && ipaddr.isValidCIDR(text);
  if (!isWellFormed) throw new Error(`"${text}" is not an address range such as 10.0.0.0/8 or fd00::/8`);
  const address = parseAddress(network);
  if (address === undefined || network.includes('%')) throw new Error(`"${text}" must be a range without a zone`);
  if (isIP(network) === 4 || address instanceof ipaddr.IPv6) return [address, Number(prefixLength)];
  const lengthInIpv4 = Number(prefixLength) - 96;
  if (lengthInIpv4 < 0) throw new Error(`"${text}" is only partly IPv4-mapped: write the range as IPv4`);
  return [address, lengthInIpv4];
}

/**
 * The IPv4 addresses that a gateway or a tunnel on the way might reach for this IPv6 address; usually none. The caller
 * never passes an IPv4-mapped address: the kernel dials it as IPv4.
 */
export function carriedIpv4({ parts }: ipaddr.IPv6): ipaddr.IPv4[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = parts;
  const last = toIpv4(g, h);
  const startsWith = (...groups: readonly number[]) => groups.every((group, index) => parts[index] === group);

  // IPv4-compatible (RFC 4291, 2.5.5.1), except `::` and `::1`.
  if (startsWith(0, 0, 0, 0, 0, 0)) return g === 0 && h <= 1 ? [] : [last];
  // IPv4-translated (RFC 2765, 2.1).
  if (startsWith(0, 0, 0, 0, 0xffff, 0)) return [last];
  // NAT64: the well-known prefix (RFC 6052) and the local ones (RFC 8215), whose last 32 bits are read.
  if (startsWith(0x64, 0xff9b, 0, 0, 0, 0) || startsWith(0x64, 0xff9b, 1)) return [last];
  // ISATAP, under any prefix, those below included, with or without the "universal" and "group" bits (RFC 5214, 6.1).
  const isatap = (e & 0xfcff) === 0 && f === 0x5efe ? [last] : [];
  // 6to4 (RFC 3056, 2).
  if (a === 0x2002) return [toIpv4(b, c), ...isatap];
  // Teredo: the server, and the client with all bits inverted (RFC 4380, 4).
  if (startsWith(0x2001, 0)) return [toIpv4(c, d), toIpv4(~g & 0xffff, ~h & 0xffff), ...isatap];
  return isatap;
}

function toIpv4(high: number, low: number): ipaddr.IPv4 {
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
