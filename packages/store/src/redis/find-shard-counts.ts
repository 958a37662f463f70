import type { Redis } from 'ioredis';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import { createShardKeys } from '../keyspace/keys.ts';
import { SHARD_TAGS, shardOf } from '../keyspace/shards.ts';

/** Which values of SHARDS go with what is in Redis. */
export type ShardCounts = {
  /** Endpoints and transitions looked at; 0 in an empty Redis. */
  readonly sampled: number;
  /** Values under which all of them lie where they are looked for, in rising order. */
  readonly fitting: readonly number[];
  /** The largest value that a process was started with here; 0 when none was. */
  readonly started: number;
};

/** A sample is enough: each workspace lies in one shard of many. */
const SAMPLE = 500;
/** At most so many steps of so many keys, of some tenths of a millisecond each. */
const STEPS = 100;
const KEYS_PER_STEP = 500;
/** An endpoint or a transition, both of which name their workspace. */
const OWNED = /^\{([^}]*)\}:[ex]:[^:]+$/;

/** Finds out by a sample of the data. Reads only. */
export async function findShardCounts(redis: RedisClient): Promise<ShardCounts> {
  const samples = await Promise.all(mastersOf(redis).map(samplePlaces));
  const places = samples.flat();
  // Every API registers the key that it encrypts with in all of its shards.
  const known = await Promise.all(SHARD_TAGS.map((tag) => redis.exists(createShardKeys(tag).keyVersions)));
  const counts = SHARD_TAGS.map((_, index) => index + 1);
  return {
    sampled: places.length,
    fitting: counts.filter((count) => places.every(({ workspaceId, shard }) => shardOf(workspaceId, count) === shard)),
    started: known.lastIndexOf(1) + 1,
  };
}

type Place = { readonly workspaceId: string; readonly shard: number };

async function samplePlaces(redis: Redis): Promise<readonly Place[]> {
  const places: Place[] = [];
  let cursor = '0';
  for (let step = 0; step < STEPS && places.length < SAMPLE; step++) {
    const [next, names] = await redis.scan(cursor, 'MATCH', '{*}:[ex]:*', 'COUNT', KEYS_PER_STEP);
    const owned = names.map((name) => ({ name, shard: SHARD_TAGS.indexOf(OWNED.exec(name)?.[1] ?? '') }));
    const found = await Promise.all(
      owned
        .filter(({ shard }) => shard >= 0)
        .map(async ({ name, shard }) => ({ shard, workspaceId: await redis.hget(name, 'ws') })),
    );
    for (const { shard, workspaceId } of found) if (workspaceId !== null) places.push({ workspaceId, shard });
    cursor = next;
    if (cursor === '0') break;
  }
  return places;
}
