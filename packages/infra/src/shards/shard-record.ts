import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../redis/keys.ts';
import { SHARD_TAGS } from '../redis/shards.ts';

/** What is written in Redis of its shards. Nothing is in a new one, and in one that only releases up to 0.1.0 have used. */
export type ShardRecord = {
  /** The SHARDS that the data is laid out for; while it is moved, the one from before. */
  readonly count?: number;
  /** The data is on its way to so many shards: what is looked for may be in its former place or in the new one. */
  readonly movingTo?: number;
};

export type ShardRecordStore = {
  readonly read: () => Promise<ShardRecord>;
  /** Enters the number unless there is one; returns what is there then. */
  readonly enter: (count: number) => Promise<ShardRecord>;
  readonly beginMove: (to: number) => Promise<void>;
  /** Takes a beginning back, before anything was moved. */
  readonly dropMove: () => Promise<void>;
  readonly finishMove: (to: number) => Promise<void>;
};

const Count = z.coerce.number().int().min(1).max(SHARD_TAGS.length);
const Fields = z.object({ count: Count.exactOptional(), movingTo: Count.exactOptional() });

export function createShardRecordStore(redis: RedisClient): ShardRecordStore {
  const key = GLOBAL_KEYS.shards;
  const read = async () => Fields.parse(await redis.hgetall(key));
  return {
    read,
    async enter(count) {
      await redis.hsetnx(key, 'count', count);
      return await read();
    },
    async beginMove(to) {
      await redis.hset(key, 'movingTo', to);
    },
    async dropMove() {
      await redis.hdel(key, 'movingTo');
    },
    async finishMove(to) {
      // Both at once: a crash leaves a move that is half done, or none.
      const replies = (await redis.multi().hset(key, 'count', to).hdel(key, 'movingTo').exec()) ?? [];
      for (const [error] of replies) if (error) throw error;
    },
  };
}
