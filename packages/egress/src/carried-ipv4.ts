import ipaddr from 'ipaddr.js';

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
