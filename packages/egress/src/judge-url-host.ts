import { isIP } from 'node:net';
import { createAddressPolicy, type AddressPolicy, type AddressRanges } from './address-policy.ts';

/**
 * Ports of other protocols, to which no browser sends a request, so that a URL can't make Herald speak to a mail or
 * chat server. Source: the Fetch standard, "port blocking" (https://fetch.spec.whatwg.org/#port-blocking).
 */
export const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

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

/** See `judgeUrlHost`. The url must be a valid endpoint url. */
export function createEndpointUrlJudge(ranges: AddressRanges): (url: string) => string | undefined {
  const policy = createAddressPolicy(ranges);
  return (url) => judgeUrlHost(new URL(url), policy);
}
