import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';

/** Limit of one question to one server. Both families are asked at once: a look-up takes at most twice this. */
const ANSWER_WITHIN_MS = 2_000;
const TRIES = 2;

/** Names of this machine itself: they need no question (RFC 6761 section 6.3). */
const LOCAL_NAME = /(^|\.)localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Resolves names. Given `dnsServers` (`1.1.1.1`, `[2606:4700::1111]:53`), it asks only these, without a thread and
 * without the machine's search domains. Given none, it asks the system, which takes one of libuv's four threads per
 * look-up: four domains with dead name servers then hold up all others, so production should name its servers.
 * Concurrent look-ups of one name share one question, so that a busy name can't take all threads.
 * @throws when one of `dnsServers` is not an address
 */
export function createLookup(dnsServers: readonly string[], askSystem = lookUpBySystem): LookupFunction {
  return shareLookups(dnsServers.length === 0 ? askSystem : createServerLookup(dnsServers));
}

type LookUp = (hostname: string) => Promise<LookupAddress[]>;

const lookUpBySystem: LookUp = (hostname) => systemLookup(hostname, { all: true });

function createServerLookup(dnsServers: readonly string[]): LookUp {
  const resolver = new Resolver({ timeout: ANSWER_WITHIN_MS, tries: TRIES, maxTimeout: ANSWER_WITHIN_MS });
  resolver.setServers(dnsServers);
  return async (hostname) => {
    if (LOCAL_NAME.test(hostname)) return [...LOOPBACK];
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [...addressesOf(v4, 4), ...addressesOf(v6, 6)];
    if (addresses.length === 0) throw mainErrorOf(v4, v6);
    return addresses;
  };
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** Prefers any error to "no such record", which is normal for one of the two families. */
function mainErrorOf(...answers: PromiseSettledResult<string[]>[]): Error {
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
    // Outside the promise, so that an error that the callback throws does not become a failed look-up.
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
