import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';

/** A worker that was not seen for so long counts as gone, in ms. */
const GONE_AFTER_MS = 15_000;
/** How often a worker shows itself, in ms. */
export const PRESENCE_INTERVAL_MS = 4_000;
/** What the connections are called on which workers wait for jobs, one for each shard that a worker serves. */
export const WAIT_CONNECTION = 'herald-worker-wait';

/** Who is there to send. A hint for people and for the test operation; no delivery depends on it. */
export type WorkerPresence = {
  readonly show: (workerId: string, now: number) => Promise<void>;
  readonly leave: (workerId: string) => Promise<void>;
  readonly count: (now: number) => Promise<number>;
};

export function createWorkerPresence(redis: RedisClient): WorkerPresence {
  return {
    async show(workerId, now) {
      await Promise.all([
        redis.zadd(GLOBAL_KEYS.workers, now, workerId),
        redis.zremrangebyscore(GLOBAL_KEYS.workers, '-inf', now - 20 * GONE_AFTER_MS),
      ]);
    },
    async leave(workerId) {
      await redis.zrem(GLOBAL_KEYS.workers, workerId);
    },
    count: (now) => redis.zcount(GLOBAL_KEYS.workers, now - GONE_AFTER_MS, '+inf'),
  };
}
