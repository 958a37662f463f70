import { isIP } from 'node:net';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Request } from 'express';

/** One subscriber has at least this much of IPv6, and can call from anywhere in it. */
const IPV6_PREFIX_BITS = 64;

/**
 * Whose budget a request draws on: an IPv4 address, or an IPv6 network. Express finds it behind as many proxies as TRUST_PROXY names;
 * what a caller itself writes into X-Forwarded-For lies beyond them and is never looked at.
 */
export function clientAddressOf(req: Request): string {
  const given = req.ip ?? '';
  // Some proxies add the port, which would make every connection somebody new.
  const withoutPort = /^\[?([^\]]+?)\]?:\d+$/.exec(given)?.[1] ?? '';
  const address = [given, withoutPort, req.socket.remoteAddress ?? ''].find((text) => isIP(text) !== 0);
  return address === undefined ? 'unknown' : ipKeyGenerator(address, IPV6_PREFIX_BITS);
}
