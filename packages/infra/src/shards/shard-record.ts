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

/** The record, and the id of the data, by which a process knows whether it is what it has opened. */
export type KnownData = { readonly record: ShardRecord; readonly dataId?: string };

export type ShardRecordStore = {
  readonly read: () => Promise<ShardRecord>;
  readonly readKnown: () => Promise<KnownData>;
  /** Gives the data this id unless it has one; returns the one that it has then. */
  readonly identify: (id: string) => Promise<string>;
  /** Enters the number unless there is one; returns what is there then. */
  readonly enter: (count: number) => Promise<ShardRecord>;
  readonly beginMove: (to: number) => Promise<void>;
  /** Takes a beginning back, before anything was moved. */
  readonly dropMove: () => Promise<void>;
  readonly finishMove: (to: number) => Promise<void>;
};

const Count = z.coerce.number().int().min(1).max(SHARD_TAGS.length);
const Fields = z.object({ count: Count.exactOptional(), movingTo: Count.exactOptional() });
const DataId = z.object({ dataId: z.string().exactOptional() });

export function createShardRecordStore(redis: RedisClient): ShardRecordStore {
  const key = GLOBAL_KEYS.shards;
  const readKnown = async (): Promise<KnownData> => {
    const fields = await redis.hgetall(key);
    return { record: Fields.parse(fields), ...DataId.parse(fields) };
  };
  const read = async () => (await readKnown()).record;
  return {
    read,
    readKnown,
    async identify(id) {
      await redis.hsetnx(key, 'dataId', id);
      return (await readKnown()).dataId ?? id;
    },
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
