import { error, type Finding } from '@herald/runtime/findings/finding';
import type { RedisClient } from '../redis/connect-redis.ts';
import { LAYOUT } from '../redis/layout.ts';
import { isUnrecorded } from '../shards/data-loss.ts';
import type { ShardRecord } from '../shards/shard-record.ts';
import { hasFormerKeys } from './former-keys.ts';

/**
 * Finds why a command that takes no data over must not touch the data.
 * @returns undefined when the data has the layout of this version, or there is none
 */
export async function findLayoutProblem(redis: RedisClient, record: ShardRecord): Promise<Finding | undefined> {
  if (!isUnrecorded(record) || record.upgradingTo !== undefined) return judgeLayout(record);
  return (await hasFormerKeys(redis)) ? FORMER : undefined;
}

/** The same by the record alone. */
export function judgeLayout(record: ShardRecord): Finding | undefined {
  const newer = judgeNewer(record);
  if (newer) return newer;
  if (record.upgradingTo !== undefined) return UNDER_WAY;
  if (record.layout === LAYOUT) return undefined;
  return record.movingTo === undefined ? FORMER : describeFormerResharding(record.movingTo);
}

/** Finds that this version can't read the data. */
export function judgeNewer({ layout = 1, upgradingTo = 1 }: ShardRecord): Finding | undefined {
  const newest = Math.max(layout, upgradingTo);
  if (newest <= LAYOUT) return undefined;
  return error(
    'layout_newer',
    `The data in this Redis is laid out by a newer version of Herald (layout ${newest}; this one knows ${LAYOUT}); start that version.`,
  );
}

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
    `A former version of Herald began to reshard the data in this Redis to ${to} shards; finish that with "herald shards move --to ${to}" of that version.`,
  );
}
