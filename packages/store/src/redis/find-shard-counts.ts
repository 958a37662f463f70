import type { Redis } from 'ioredis';
import { createShardKeys, SHARD_TAGS, shardOf } from '../keys/keys.ts';
import { mastersOf, type RedisClient } from './connect-redis.ts';
import { scanKeys } from './walk-keys.ts';

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
/** An endpoint or a transition, both of which name their workspace. */
const OWNED = /^\{([^}]*)\}:[ex]:[^:]+$/;

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
  for await (const names of scanKeys(redis, '{*}:[ex]:*')) {
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
