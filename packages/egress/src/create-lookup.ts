import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import type { Lookup } from './dial.ts';

/** Limit of one question to one server. Both families are asked at once: a look-up takes at most twice this. */
const ANSWER_WITHIN_MS = 2_000;
const TRIES = 2;

/** Names of this machine itself: they need no question (RFC 6761 section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/i;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Resolves names. Given `dnsServers` (`1.1.1.1`, `[2606:4700::1111]:53`), it asks only these, without a thread and
 * without the machine's search domains. Given none, it asks the system, which takes one of libuv's four threads per
 * look-up: four domains with dead name servers then hold up all others, so production should name its servers.
 * Concurrent look-ups of one name share one question, so that a busy name can't take all threads.
 * @throws when one of `dnsServers` is not an address
 */
export function createLookup(dnsServers: readonly string[], askSystem = lookUpBySystem): Lookup {
  return shareLookups(dnsServers.length === 0 ? (host) => [askSystem(host)] : createServerLookup(dnsServers));
}

async function lookUpBySystem(host: string): Promise<readonly string[]> {
  const found = await systemLookup(host, { all: true });
  return found.map(({ address }) => address);
}

function createServerLookup(dnsServers: readonly string[]): Lookup {
  const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES, maxTimeout: ANSWER_WITHIN_MS });
  resolver.setServers(dnsServers);
  return (host) => {
    if (LOCAL_NAME.test(host)) return [Promise.resolve(LOOPBACK)];
    return [resolver.resolve4(host), resolver.resolve6(host)];
  };
}

function shareLookups(lookUp: Lookup): Lookup {
  const underWay = new Map<string, readonly Promise<readonly string[]>[]>();
  return (host) => {
    const asked = underWay.get(host);
    if (asked !== undefined) return asked;
    const parts = lookUp(host);
    underWay.set(host, parts);
    void Promise.allSettled(parts).then(() => underWay.delete(host));
    return parts;
  };
}
