import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { carriedIpv4 } from './carried-ipv4.ts';
import { IPV4_SPECIAL_PURPOSE, IPV6_SPECIAL_PURPOSE, REFUSED_BESIDES } from './special-purpose-addresses.ts';

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
