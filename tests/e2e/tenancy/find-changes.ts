import type { RedisClient } from '@herald/store/redis/connect-redis';
import { dumpRedis } from '../../support/redis-dump.ts';

/** What comes and leaves by itself: when a worker was last seen, and what the readiness tries to write. */
const LEAVES_BY_ITSELF = /^herald:(workers|probe)$/;

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
    .map((key) => ({ key, before: before.get(key), after: after.get(key) }));
}
