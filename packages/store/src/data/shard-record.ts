import { error, warning, type Finding } from '@herald/runtime/finding';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { createShardKeys, GLOBAL_KEYS, SHARD_LIMIT, SHARD_TAGS, shardOf } from '../keys/keys.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { defineScript } from '../redis/script.ts';
import { scanKeys } from '../redis/walk-keys.ts';

const Count = z.coerce.number().int().min(1).max(SHARD_LIMIT);
const Layout = z.coerce.number().int().min(1);

/** The record of the shards in Redis; empty in a new Redis, and in one that only 0.1.0 has used. */
const ShardRecord = z.object({
  /** The SHARDS that the data is laid out for; during resharding, the former one. */
  count: Count.exactOptional(),
  /** The data is being resharded to this number: a key may be in its former place or in the new one. */
  movingTo: Count.exactOptional(),
  /** How the data is laid out within a shard; absent where that is not known. */
  layout: Layout.exactOptional(),
  /** The data of a former version is being taken over into this layout. */
  upgradingTo: Layout.exactOptional(),
});
export type ShardRecord = Readonly<z.infer<typeof ShardRecord>>;

/** The record, and the id by which a process knows whether the data is the data that it has opened. */
export type KnownData = { readonly record: ShardRecord; readonly dataId?: string };
const DataId = z.object({ dataId: z.string().exactOptional() });

/** The last look at the history: its id, and the times of the look before and of this one, epoch ms. */
const HistorySeen = z
  .string()
  .regex(/^\S+ \d+ \d+$/)
  .transform((text) => {
    const [id = '', before, last] = text.split(' ');
    return { id, before: Number(before), last: Number(last) };
  });
type HistorySeen = z.infer<typeof HistorySeen>;

const ENTER_LUA = /* lua */ `
-- Enter the number of shards, of new data their layout too, unless there is a number.
-- KEYS[1] record (hash)
-- ARGV[1] shards   ARGV[2] layout of new data, or ''
-- Returns 1 when they were entered, else 0.
if redis.call('HSETNX', KEYS[1], 'count', ARGV[1]) == 0 then return 0 end
-- Nothing has settled yet (see raiseRetention).
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'layout', ARGV[2], 'retention', 0) end
return 1
`;

const FINISH_UPGRADE_LUA = /* lua */ `
-- Record that the data is taken over, unless another process has: resharding that began since must not end here.
-- KEYS[1] record (hash)
-- ARGV[1] layout
-- Returns 1, or 0 when another process has recorded it.
if redis.call('HGET', KEYS[1], 'upgradingTo') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'layout', ARGV[1])
redis.call('HDEL', KEYS[1], 'upgradingTo')
return 1
`;

const NOTE_COPIES_LUA = /* lua */ `
-- Note which copies of the audit trail are whole, unless another run has noted its own, or resharding has ended.
-- KEYS[1] record (hash)   ARGV[1] their name
-- Returns the name that is noted then, '' when resharding has ended.
if redis.call('HEXISTS', KEYS[1], 'movingTo') == 0 then return '' end
redis.call('HSETNX', KEYS[1], 'trailCopied', ARGV[1])
return redis.call('HGET', KEYS[1], 'trailCopied')
`;
const NotedReply = z.string();

export function createShardRecordStore(redis: RedisClient) {
  const key = GLOBAL_KEYS.shards;
  const enter = defineScript(redis, ENTER_LUA);
  const noteCopies = defineScript(redis, NOTE_COPIES_LUA);
  const finishUpgrade = defineScript(redis, FINISH_UPGRADE_LUA);
  const readKnown = async (): Promise<KnownData> => {
    const fields = await redis.hgetall(key);
    return { record: ShardRecord.parse(fields), ...DataId.parse(fields) };
  };
  const read = async () => (await readKnown()).record;
  return {
    read,
    readKnown,
    /** @throws Error when no process has ever opened the data */
    readDataId: async (): Promise<string> => {
      const { dataId } = await readKnown();
      if (dataId === undefined) throw new Error('no API or worker has opened this data yet; start one');
      return dataId;
    },
    /** Gives the data this id unless it has one. Returns the id that it has then. */
    async identify(id: string): Promise<string> {
      const { dataId } = await readKnown();
      // It is looked for first, so that a Redis that is full keeps nobody from starting.
      if (dataId !== undefined) return dataId;
      await redis.hsetnx(key, 'dataId', id);
      return (await readKnown()).dataId ?? id;
    },
    readHistorySeen: async (): Promise<HistorySeen | undefined> =>
      HistorySeen.optional().parse((await redis.hget(key, 'historySeen')) ?? undefined),
    async noteHistorySeen({ id, before, last }: HistorySeen): Promise<void> {
      await redis.hset(key, 'historySeen', `${id} ${before} ${last}`);
    },
    /** Enters the number of shards, and the layout of new data, unless there is a number. Returns the record then. */
    async enter(count: number, layout?: number): Promise<ShardRecord> {
      await enter([key], [count, layout ?? '']);
      return await read();
    },
    async beginResharding(to: number): Promise<void> {
      await redis.hset(key, 'movingTo', to);
    },
    /** The copies of the audit trail that only have to be put in place; undefined while there are none. */
    findTrailCopies: async () => (await redis.hget(key, 'trailCopied')) ?? undefined,
    /** Of several runs the first one counts. Returns its name; undefined when resharding has ended. */
    async noteTrailCopied(name: string): Promise<string | undefined> {
      return NotedReply.parse(await noteCopies([key], [name])) || undefined;
    },
    /** Takes a beginning back, before anything was moved. */
    async dropResharding(): Promise<void> {
      await redis.hdel(key, 'movingTo');
    },
    async finishResharding(to: number): Promise<void> {
      // Both at once: after a crash the resharding is either not complete, or complete and recorded.
      const replies = (await redis.multi().hset(key, 'count', to).hdel(key, 'movingTo', 'trailCopied').exec()) ?? [];
      for (const [error] of replies) if (error) throw error;
    },
    /** Records that the data is being taken over. Former versions then take it for that of a newer one. */
    async beginUpgrade(layout: number): Promise<void> {
      await redis.hset(key, 'upgradingTo', layout);
    },
    /** Takes a beginning back, before anything was changed. */
    async dropUpgrade(): Promise<void> {
      await redis.hdel(key, 'upgradingTo');
    },
    /** Does nothing when another process has finished it. */
    async finishUpgrade(layout: number): Promise<void> {
      await finishUpgrade([key], [layout]);
    },
  };
}
export type ShardRecordStore = ReturnType<typeof createShardRecordStore>;

type ShardFacts = {
  readonly record: ShardRecord;
  /** What the data itself says; left out where the record is enough. */
  readonly counts?: ShardCounts;
};

/** Whether SHARDS is the number that the data is laid out for: with another number most workspaces would look empty. */
export function judgeShards({ record, counts }: ShardFacts, shardCount: number): Finding[] {
  if (record.movingTo !== undefined) return [error('shards_moving', describeResharding(record, record.movingTo))];
  if (record.count !== undefined && record.count !== shardCount) return [judgeDifference(record.count, shardCount)];
  return counts ? judgeCounts(counts, shardCount, record.count !== undefined) : [];
}

/** Judges by the data itself. A record that agrees with SHARDS may know better than `started`. */
function judgeCounts({ sampled, fitting, started }: ShardCounts, shardCount: number, isRecorded: boolean): Finding[] {
  const likely = fitting.includes(started) ? started : fitting[0];
  const fits = fitting.includes(shardCount);
  if (sampled > 0 && (likely === undefined || (isRecorded && !fits))) {
    const sentence =
      'the data in this Redis was written with several values of SHARDS; find out which process has another one, and stop it';
    return [error('shards_mixed', sentence)];
  }
  if (sampled > 0 && likely !== undefined && !fits) return [judgeDifference(likely, shardCount)];
  if (started === 0 || started === shardCount) return [];
  const sentence = `SHARDS is ${shardCount}, and a process of an earlier release was started on this Redis with ${started}; it must be the same everywhere`;
  return [warning('shards_changed', sentence)];
}

function judgeDifference(laidOutFor: number, shardCount: number): Finding {
  return error(
    'shards_differ',
    `SHARDS is ${shardCount}, but the data in this Redis is laid out for ${laidOutFor}; ` +
      `set SHARDS=${laidOutFor} everywhere, or stop every API and worker and reshard the data with "herald shards reshard --to ${shardCount}".`,
  );
}

export function describeResharding({ count }: ShardRecord, movingTo: number): string {
  return (
    `The resharding of the data in this Redis ${count === undefined ? '' : `from ${count} `}to ${movingTo} shards is not complete; ` +
    `finish it with "herald shards reshard --to ${movingTo}", and start with SHARDS=${movingTo} afterwards.`
  );
}

/** The values of SHARDS that agree with the data in Redis. */
export type ShardCounts = {
  /** Endpoints and transitions looked at; 0 in an empty Redis. */
  readonly sampled: number;
  /** Values under which all of them lie where they are looked for, in rising order. */
  readonly fitting: readonly number[];
  /** The largest value that a process was started with here; 0 when none was. */
  readonly started: number;
};

/** Places looked at on each master. A sample is enough: each workspace lies in one shard of many. */
const SAMPLE = 500;
/** At most so many steps on each master. */
const STEPS = 100;
/** An endpoint or a transition, both of which name their workspace. `x:` began a transition until layout 3. */
const OWNED = /^\{([^}]*)\}:(?:[ex]:|trn_)[^:]+$/;

/** Finds them by a sample of the data. Reads only. */
export async function findShardCounts(redis: RedisClient): Promise<ShardCounts> {
  const places = (await Promise.all(mastersOf(redis).map(samplePlaces))).flat();
  // Every API registers the key that it encrypts with in all of its shards.
  const known = await Promise.all(SHARD_TAGS.map((tag) => redis.exists(createShardKeys(tag).keyVersions)));
  const counts = SHARD_TAGS.map((_, index) => index + 1);
  return {
    sampled: places.length,
    fitting: counts.filter((count) => places.every(({ workspaceId, shard }) => shardOf(workspaceId, count) === shard)),
    started: known.lastIndexOf(1) + 1,
  };
}

async function samplePlaces(redis: Redis) {
  const places: { workspaceId: string; shard: number }[] = [];
  let steps = 0;
  for await (const names of scanKeys(redis, '{*}:[ext][:r]*')) {
    const owned = names.map((name) => ({ name, shard: SHARD_TAGS.indexOf(OWNED.exec(name)?.[1] ?? '') }));
    await Promise.all(
      owned.map(async ({ name, shard }) => {
        const workspaceId = shard < 0 ? null : await redis.hget(name, 'ws');
        if (workspaceId !== null) places.push({ workspaceId, shard });
      }),
    );
    steps++;
    if (steps === STEPS || places.length >= SAMPLE) break;
  }
  return places;
}
