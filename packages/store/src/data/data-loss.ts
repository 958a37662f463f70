import { error, type Finding } from '@herald/runtime/finding';
import { GLOBAL_KEYS, SHARD_TAGS } from '../keys/keys.ts';
import { LAYOUT } from '../keys/layout.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { GONE_AFTER_MS } from './find-running.ts';
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

/**
 * Finds why a command that takes no data over must not touch the data.
 * @returns undefined when the data has the layout of this version, or there is none
 */
export async function findLayoutProblem(redis: RedisClient, record: ShardRecord): Promise<Finding | undefined> {
  const unreadable = await findUnreadable(redis, record);
  if (unreadable) return unreadable;
  return isUnrecorded(record) && record.upgradingTo === undefined ? undefined : judgeLayout(record);
}

/** Finds why this version must not touch the data, by the record alone. */
export function judgeLayout(record: ShardRecord): Finding | undefined {
  const newer = judgeNewer(record);
  if (newer) return newer;
  if (record.upgradingTo !== undefined) return UNDER_WAY;
  if (record.layout === LAYOUT) return undefined;
  return record.movingTo === undefined ? FORMER : describeFormerResharding(record.movingTo);
}

/** Finds that this version can't take the data over: a newer one has written it, or 0.1.0. */
export async function findUnreadable(redis: RedisClient, record: ShardRecord): Promise<Finding | undefined> {
  const newer = judgeNewer(record);
  if (newer || record.layout !== undefined) return newer;
  const found = await Promise.all(SHARD_TAGS.map((tag) => redis.exists(FIRST_SIGNS.map((name) => `{${tag}}:${name}`))));
  return found.some((count) => count > 0) ? FIRST : undefined;
}

function judgeNewer({ layout = 1, upgradingTo = 1 }: ShardRecord): Finding | undefined {
  const newest = Math.max(layout, upgradingTo);
  if (newest <= LAYOUT) return undefined;
  return error(
    'layout_newer',
    `The data in this Redis is laid out by a newer version of Herald (layout ${newest}; this one knows ${LAYOUT}); start that version.`,
  );
}

/** At least one of these exists in a shard as soon as a process of 0.1.0 has done anything there. */
const FIRST_SIGNS = ['deliveries:meta', 'tests:meta', 'open', 'owed', 'backlogs'];

const FIRST = error(
  'layout_former',
  'The data in this Redis is that of Herald 0.1.0, which this version does not take over; start 0.2.0 on it first.',
);

const FORMER = error(
  'layout_former',
  'The data in this Redis is that of a former version of Herald; stop every API and worker of that version, and start one of this: it takes the data over.',
);

const UNDER_WAY = error(
  'layout_upgrading',
  'The data in this Redis is being taken over from a former version of Herald; wait until an API or a worker has started, or start one, which completes it.',
);

function describeFormerResharding(to: number): Finding {
  return error(
    'layout_former',
    `A former version of Herald began to reshard the data in this Redis to ${to} shards; finish that with "herald shards reshard --to ${to}" of that version.`,
  );
}
