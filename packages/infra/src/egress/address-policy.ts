import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** Decides which addresses a worker may dial. */
export interface AddressPolicy {
  /** `address` as a resolver or a socket writes it, not as a URL may; whatever isn't such an address is not allowed. */
  isAllowed(address: string): boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Cidr = [Address, number];

/** All that IANA has ever handed out for the public Internet; ipaddr.js calls the vast rest "unicast" too. */
const GLOBAL_UNICAST_V6: Cidr = [ipaddr.parse('2000::'), 3];

/** Azure's host agent answers here, inside every virtual machine: a metadata service at a public-looking address. */
const AZURE_HOST: Cidr = [ipaddr.parse('168.63.129.16'), 32];

/** `::1.1.1.1`, long out of use (RFC 4291, 2.5.5.1). ipaddr.js takes it for `::ffff:1.1.1.1`, the kernel does not. */
const IPV4_COMPATIBLE = /^::\d+\./;

/**
 * Public addresses only, by the IANA special-purpose registries (RFC 6890), plus what `allowCidrs` opens.
 * Addresses that carry another one inside (NAT64, 6to4, Teredo) are refused whatever they carry, except IPv4-mapped ones,
 * which are judged as the IPv4 address that the kernel would dial.
 * Throws an Error that names the range when one of `allowCidrs` is malformed.
 */
export function createAddressPolicy({ allowCidrs }: { allowCidrs: readonly string[] }): AddressPolicy {
  const opened = allowCidrs.map(parseCidr);
  return {
    isAllowed(text) {
      const address = parseAddress(text);
      if (address === undefined) return false;
      return opened.some((cidr) => contains(cidr, address)) || isPublic(address);
    },
  };
}

/** One spelling per address, so that two of them can be compared; undefined when it isn't an address. */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString();
}

function parseAddress(text: string): Address | undefined {
  // ipaddr.js alone would also read `0177.0.0.1` and `2130706433`, and might read them otherwise than the system does.
  if (isIP(text) === 0 || IPV4_COMPATIBLE.test(text)) return undefined;
  return ipaddr.process(text);
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv6' ? contains(GLOBAL_UNICAST_V6, address) : !contains(AZURE_HOST, address);
}

function contains([network, prefixLength]: Cidr, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength);
}

function parseCidr(text: string): Cidr {
  const [network = '', prefixLength, ...rest] = text.split('/');
  const isWellFormed =
    isIP(network) !== 0 && prefixLength !== undefined && rest.length === 0 && ipaddr.isValidCIDR(text);
  if (!isWellFormed) throw new Error(`"${text}" is not an address range such as 10.0.0.0/8 or fd00::/8`);
  const cidr = ipaddr.parseCIDR(text);
  if (cidr[0].range() === 'ipv4Mapped') throw new Error(`"${text}" is IPv4-mapped: write the range as IPv4`);
  return cidr;
}
