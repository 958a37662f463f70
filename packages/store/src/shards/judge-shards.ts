import { error, warning, type Finding } from '@herald/runtime/findings/finding';
import type { ShardCounts } from '../redis/find-shard-counts.ts';
import type { ShardRecord } from './shard-record.ts';

export type ShardFacts = {
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
