import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** Of one question to one server. Both families are asked at once, so a look-up ends within twice this per server. */
const ANSWER_WITHIN_MS = 2_000;
const TRIES = 2;

/** Names of this machine itself: nobody is asked about them (RFC 6761 section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * How names become addresses. With `dnsServers` (`1.1.1.1`, `[2606:4700::1111]:53`) these are asked, without a thread and
 * without the machine's search domains, and the system never is; with none the system is, one of libuv's four threads per look-up, so that four
 * domains with dead name servers hold up every other: production should name its servers.
 * Concurrent look-ups of one name share one question, so that a busy name can't take all threads.
 * Throws when one of `dnsServers` is not an address.
 */
export function createLookup(dnsServers: readonly string[], askSystem = lookUpBySystem): LookupFunction {
  return shareLookups(dnsServers.length === 0 ? askSystem : createServerLookup(dnsServers));
}

type LookUp = (hostname: string) => Promise<LookupAddress[]>;

function lookUpBySystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });
}

function createServerLookup(dnsServers: readonly string[]): LookUp {
  const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES, maxTimeout: ANSWER_WITHIN_MS });
  resolver.setServers(dnsServers);
  return async (hostname) => {
    if (LOCAL_NAME.test(hostname)) return [...LOOPBACK];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (addresses.length === 0) throw telling(v4, v6);
    return addresses;
  };
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** The error that says more: "no such record" for one family is normal, the other's failure is the news. */
function telling(...answers: PromiseSettledResult<string[]>[]): Error {
  const errors = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [answer.reason as NodeJS.ErrnoException] : [],
  );
  return errors.find(({ code }) => code !== 'ENODATA') ?? errors[0] ?? new Error('the name has no address');
}

function shareLookups(lookUp: LookUp): LookupFunction {
  const underWay = new Map<string, Promise<LookupAddress[]>>();
  return (hostname, options, callback) => {
    let asked = underWay.get(hostname);
    if (asked === undefined) {
      asked = lookUp(hostname).finally(() => underWay.delete(hostname));
      underWay.set(hostname, asked);
    }
    // Called back outside the promise: what the caller throws is not a failed look-up.
    asked.then(
      (addresses) => {
        process.nextTick(answer, addresses);
      },
      (error: unknown) => {
        process.nextTick(callback, error, []);
      },
    );

    function answer(addresses: LookupAddress[]): void {
      const [first] = addresses;
      if (options.all === true || first === undefined) callback(null, addresses);
      else callback(null, first.address, first.family);
    }
  };
}
