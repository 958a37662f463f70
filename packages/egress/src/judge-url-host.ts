import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import { BLOCKED_PORTS } from './blocked-ports.ts';

/**
 * Suffixes of names that resolve inside one network only: RFC 6762, RFC 8375, ICANN's `internal`, names that ICANN
 * withholds because many networks use them, and common habit. A name that exists nowhere (`.invalid`) may be
 * registered, and gets no delivery.
 */
const PRIVATE_SUFFIX = /\.(local|home\.arpa|internal|corp|home|mail|lan|intranet|private|localdomain)$/;

/**
 * Why a URL's host and port can't be a destination, as the rest of a sentence that begins with the field; undefined when
 * they can, as far as that shows without a look-up. This is a courtesy: a name may point anywhere by the time of a
 * delivery, so the agent judges every connection again.
 */
export function judgeUrlHost(url: URL, policy: AddressPolicy): string | undefined {
  if (url.port !== '' && BLOCKED_PORTS.has(Number(url.port))) {
    return `must not name port ${url.port}, which belongs to another protocol than HTTPS`;
  }
  // URL has already turned every notation of an address (decimal, octal, hex, full-width digits) into the usual one.
  const address = withoutBrackets(url.hostname);
  if (isIP(address) === 0) return judgeName(url.hostname, policy);
  return policy.isAllowed(address) ? undefined : `must name a public address, not ${address}`;
}

/** `[::1]` as URL writes it, `::1` as sockets want it. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function judgeName(name: string, policy: AddressPolicy): string | undefined {
  if (name.endsWith('.')) return 'must not end its host name with a dot';
  // RFC 1035 section 2.3.1: between two dots there is a label. Only the root's label is empty, and it stands at the
  // end.
  if (name.split('.').includes('')) return 'must not begin its host name with a dot or have two in a row';
  if (name === 'localhost' || name.endsWith('.localhost')) {
    const isLoopbackOpen = policy.isAllowed('127.0.0.1') || policy.isAllowed('::1');
    return isLoopbackOpen ? undefined : `must name a public host, not ${name}`;
  }
  if (!name.includes('.')) return `must have a full host name, not ${name}`;
  return PRIVATE_SUFFIX.test(name) ? `must name a public host: ${name} belongs to a private network` : undefined;
}
