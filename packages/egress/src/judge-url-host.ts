import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { BLOCKED_PORTS } from './blocked-ports.ts';

/** `reason` is a sentence for the customer who registers the URL. */
export type HostVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Names that mean something inside one network only: RFC 6762, RFC 8375, ICANN's `internal`, what ICANN withholds because so
 * many networks use it, and common habit. A name that exists nowhere (`.invalid`) may be registered; it gets no delivery.
 */
const PRIVATE_SUFFIXES = [
  ...['.local', '.home.arpa', '.internal', '.corp', '.home', '.mail'],
  ...['.lan', '.intranet', '.private', '.localdomain'],
];

/**
 * What registration can refuse of a URL's host and port without a look-up. It is a courtesy to the customer:
 * a name may point anywhere by the time of a delivery, so the guard in the agent judges every connection again.
 */
export function judgeUrlHost(url: URL, policy: AddressPolicy): HostVerdict {
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) {
    return refuse(`port ${url.port} belongs to another protocol than HTTPS`);
  }
  // URL has already turned every notation of an address (decimal, octal, hex, full-width digits) into the usual one.
  const address = withoutBrackets(url.hostname);
  if (isIP(address) !== 0) {
    return policy.isAllowed(address) ? { ok: true } : refuse(`the address ${address} is not a public one`);
  }
  return judgeName(url.hostname, policy);
}

/** `[::1]` as URL writes it, `::1` as sockets want it. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function judgeName(name: string, policy: AddressPolicy): HostVerdict {
  if (name.endsWith('.')) return refuse('the host name must not end with a dot');
  // RFC 1035 section 2.3.1: between two dots there is a label. The empty one is the root's, and stands at the end alone.
  if (name.split('.').includes('')) return refuse('the host name must not begin with a dot or have two in a row');
  if (name === 'localhost' || name.endsWith('.localhost')) {
    const isLoopbackOpen = policy.isAllowed('127.0.0.1') || policy.isAllowed('::1');
    return isLoopbackOpen ? { ok: true } : refuse(`${name} is not a public host`);
  }
  if (!name.includes('.')) return refuse(`"${name}" is not a full host name`);
  const isPrivate = PRIVATE_SUFFIXES.some((suffix) => name.endsWith(suffix));
  return isPrivate ? refuse(`${name} is a name of a private network`) : { ok: true };
}

function refuse(reason: string): HostVerdict {
  return { ok: false, reason };
}
