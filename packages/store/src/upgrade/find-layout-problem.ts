import { error, type Finding } from '@herald/runtime/findings/finding';
import { SHARD_TAGS } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { LAYOUT } from '../keys/layout.ts';
import { isUnrecorded } from '../shards/data-loss.ts';
import type { ShardRecord } from '../shards/shard-record.ts';

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
