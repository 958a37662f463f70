import { isIP } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Request } from 'express';

/** One subscriber has at least a network of this size, and can call from any address in it. */
const IPV6_PREFIX_BITS = 64;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The address that a request comes from. Express finds it behind as many proxies as TRUST_PROXY says. It ignores entries
 * of X-Forwarded-For beyond these, which the caller may have written.
 */
export function addressOf(req: Request): string {
  const given = req.ip ?? '';
  // Some proxies add the port. With it, every connection would be another client.
  const withoutPort = /^\[?([^\]]+?)\]?:\d+$/.exec(given)?.[1] ?? '';
  const address = [given, withoutPort, req.socket.remoteAddress ?? ''].find((text) => isIP(text) !== 0) ?? 'unknown';
  return MAPPED.exec(address)?.[1] ?? address;
}

/** The client that a request counts for: an IPv4 address or an IPv6 network. */
export function clientAddressOf(req: Request): string {
  const address = addressOf(req);
  return address === 'unknown' ? address : ipKeyGenerator(address, IPV6_PREFIX_BITS);
}
