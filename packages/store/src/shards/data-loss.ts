import { error, type Finding } from '@herald/runtime/findings/finding';
import { GLOBAL_KEYS } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GONE_AFTER_MS } from './process-presence.ts';
import type { KnownData, ShardRecord } from './shard-record.ts';

/** How long processes that have seen the data vanish keep others from starting after their end, in ms. */
const LOSS_KEPT_MS = GONE_AFTER_MS;

const AS_AFTER = 'as after FLUSHALL, or a restart of a Redis that keeps nothing on disk';
const START_EMPTY =
  `restore it, or stop every API and worker and start them again after ${LOSS_KEPT_MS / 1_000} s: ` +
  'they begin with an empty Redis';

export const DATA_GONE = error(
  'data_lost',
  `the data that this process works on is gone from Redis, ${AS_AFTER}; ${START_EMPTY}`,
);

const DATA_REPLACED = error(
  'data_lost',
  'Redis holds other data than this process has started with, since its own was deleted, or REDIS_URL leads to another Redis now; ' +
    'restore what was there, or restart this process: it works on what is there now',
);

/** Why no process starts for now: running processes would take its entries for their data. */
export const LOSS_KNOWN = error(
  'data_lost',
  `The data in this Redis vanished while APIs or workers worked on it, ${AS_AFTER}; ${START_EMPTY}.`,
);

/** Whether no number of shards is recorded: the Redis is new, was emptied, or was filled by an early release. */
export function isUnrecorded({ count, movingTo }: ShardRecord): boolean {
  return count === undefined && movingTo === undefined;
}

/** Finds that the data that a process has opened, under `openedId`, is no longer there. */
export function judgeLoss({ record, dataId }: KnownData, openedId: string): Finding | undefined {
  if (isUnrecorded(record)) return DATA_GONE;
  // A record without an id comes from a server that was behind, or from an earlier release. It gets its id again.
  return dataId === undefined || dataId === openedId ? undefined : DATA_REPLACED;
}

/** Set by processes that have seen the data vanish, so that no starting process takes the empty Redis for a new one. */
export function createLossMark(redis: RedisClient) {
  const key = GLOBAL_KEYS.dataLost;
  return {
    async set(): Promise<void> {
      await redis.set(key, '1', 'PX', LOSS_KEPT_MS);
    },
    isThere: async () => (await redis.exists(key)) === 1,
  };
}
