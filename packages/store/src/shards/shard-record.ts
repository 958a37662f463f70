import { z } from 'zod';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { SHARD_TAGS } from '../keyspace/shards.ts';

/** What is written in Redis of its shards. Nothing is in a new one, and in one that only releases up to 0.1.0 have used. */
export type ShardRecord = {
  /** The SHARDS that the data is laid out for; during resharding, the one from before. */
  readonly count?: number;
  /** The data is on its way to so many shards: what is looked for may be in its former place or in the new one. */
  readonly movingTo?: number;
  /** How the data is laid out within a shard; absent where only former versions have worked. */
  readonly layout?: number;
  /** The data of a former version is being taken over into this layout. */
  readonly upgradingTo?: number;
};

/** The record, and the id of the data, by which a process knows whether it is what it has opened. */
export type KnownData = { readonly record: ShardRecord; readonly dataId?: string };

export type ShardRecordStore = {
  readonly read: () => Promise<ShardRecord>;
  readonly readKnown: () => Promise<KnownData>;
  /** Gives the data this id unless it has one; returns the one that it has then. */
  readonly identify: (id: string) => Promise<string>;
  /** Enters the number, and the layout where one is given, unless there is a number; returns what is there then. */
  readonly enter: (count: number, layout?: number) => Promise<ShardRecord>;
  readonly beginResharding: (to: number) => Promise<void>;
  /** Takes a beginning back, before anything was moved. */
  readonly dropResharding: () => Promise<void>;
  readonly finishResharding: (to: number) => Promise<void>;
  /** Says that the data is being taken over, also to processes of former versions, which take it for resharding. */
  readonly beginUpgrade: (layout: number) => Promise<void>;
  /** Takes a beginning back, before anything was changed. */
  readonly dropUpgrade: () => Promise<void>;
  /** Does nothing when somebody else has finished it. */
  readonly finishUpgrade: (layout: number) => Promise<void>;
};

const Count = z.coerce.number().int().min(1).max(SHARD_TAGS.length);
const Layout = z.coerce.number().int().min(1);
const Fields = z
  .object({
    count: Count.exactOptional(),
    movingTo: Count.exactOptional(),
    layout: Layout.exactOptional(),
    upgradingTo: Layout.exactOptional(),
  })
  .transform(({ movingTo, ...record }): ShardRecord => {
    // While data is taken over, it is only former versions that are told of resharding.
    return record.upgradingTo === undefined && movingTo !== undefined ? { ...record, movingTo } : record;
  });
const DataId = z.object({ dataId: z.string().exactOptional() });

const ENTER_LUA = /* lua */ `
-- Enter how many shards there are, and how they are laid out, where nobody has.
-- KEYS[1] record (hash)
-- ARGV[1] shards   ARGV[2] layout, or ''
-- Returns 1 when they were entered, else 0.
if redis.call('HSETNX', KEYS[1], 'count', ARGV[1]) == 0 then return 0 end
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'layout', ARGV[2]) end
return 1
`;

const FINISH_UPGRADE_LUA = /* lua */ `
-- The data is taken over, unless somebody has said so before: what was begun since, such as resharding, is none of this
-- one's.
-- KEYS[1] record (hash)
-- ARGV[1] layout
-- Returns 1, or 0 when it was finished before.
if redis.call('HGET', KEYS[1], 'upgradingTo') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'layout', ARGV[1])
redis.call('HDEL', KEYS[1], 'upgradingTo', 'movingTo')
return 1
`;

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
    async enter(count, layout) {
      await redis.eval(ENTER_LUA, 1, key, count, layout ?? '');
      return await read();
    },
    async beginResharding(to) {
      await redis.hset(key, 'movingTo', to);
    },
    async dropResharding() {
      await redis.hdel(key, 'movingTo');
    },
    async finishResharding(to) {
      // Both at once: after a crash the resharding is either not complete, or complete and recorded.
      const replies = (await redis.multi().hset(key, 'count', to).hdel(key, 'movingTo').exec()) ?? [];
      for (const [error] of replies) if (error) throw error;
    },
    async beginUpgrade(layout) {
      const { count = 1 } = await read();
      await redis.hset(key, 'upgradingTo', layout, 'movingTo', count);
    },
    async dropUpgrade() {
      await redis.hdel(key, 'upgradingTo', 'movingTo');
    },
    async finishUpgrade(layout) {
      await redis.eval(FINISH_UPGRADE_LUA, 1, key, layout);
    },
  };
}
