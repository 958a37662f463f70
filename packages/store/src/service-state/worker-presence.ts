import { GLOBAL_KEYS } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createShow } from '../redis/script.ts';

/** A worker that was not seen for so long counts as gone, in ms. */
const GONE_AFTER_MS = 15_000;
/** How often a worker shows itself, in ms. */
export const PRESENCE_INTERVAL_MS = 4_000;
/** The name of the connections on which workers wait for jobs: one for each shard that a worker serves. */
export const WAIT_CONNECTION = 'herald-worker-wait';

/** Records when workers were seen, in epoch ms. A hint for people and the test operation: no delivery depends on it. */
export function createWorkerPresence(redis: RedisClient) {
  const show = createShow(redis);
  return {
    show: (workerId: string, now: number) => show(GLOBAL_KEYS.workers, workerId, now, 20 * GONE_AFTER_MS),
    async leave(workerId: string): Promise<void> {
      await redis.zrem(GLOBAL_KEYS.workers, workerId);
    },
    count: (now: number) => redis.zcount(GLOBAL_KEYS.workers, now - GONE_AFTER_MS, '+inf'),
  };
}
export type WorkerPresence = ReturnType<typeof createWorkerPresence>;
