import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { LOSS_KEPT_MS } from './judge-loss.ts';

/** Left by processes that have seen the data vanish, so that none that starts meanwhile takes the empty Redis for a new one. */
export type LossMark = { readonly set: () => Promise<void>; readonly isThere: () => Promise<boolean> };

export function createLossMark(redis: RedisClient): LossMark {
  const key = GLOBAL_KEYS.dataLost;
  return {
    async set() {
      await redis.set(key, '1', 'PX', LOSS_KEPT_MS);
    },
    isThere: async () => (await redis.exists(key)) === 1,
  };
}
