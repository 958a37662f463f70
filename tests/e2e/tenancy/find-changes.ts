import type { RedisClient } from '@herald/store/redis/connect-redis';
import { dumpRedis } from '../../support/redis-dump.ts';

/**
 * What comes and leaves by itself: when a worker was last seen, what the readiness tries to write, and that somebody
 * sends `X-Forwarded-For` although no proxy is trusted.
 */
const LEAVES_BY_ITSELF = /^herald:(workers|probe|untrusted-proxy)$/;
/** Of a value in a failure. */
const SHOWN_CHARACTERS = 400;

export interface Change {
  key: string;
  before: string | undefined;
  after: string | undefined;
}

/** What Redis holds otherwise than before a run. */
export async function findChanges(redis: RedisClient, run: () => Promise<unknown>): Promise<Change[]> {
  const before = await dumpRedis(redis);
  await run();
  const after = await dumpRedis(redis);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key) !== after.get(key) && !LEAVES_BY_ITSELF.test(key))
    .map((key) => ({ key, before: shorten(before.get(key)), after: shorten(after.get(key)) }));
}

/** What was added mostly stands at the end. */
function shorten(value: string | undefined): string | undefined {
  return value === undefined || value.length <= SHOWN_CHARACTERS ? value : `…${value.slice(-SHOWN_CHARACTERS)}`;
}
