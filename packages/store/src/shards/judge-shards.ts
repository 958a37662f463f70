import type { Finding } from '@herald/runtime/findings/finding';
import type { ShardCounts } from '../redis/find-shard-counts.ts';
import type { ShardRecord } from './shard-record.ts';

export type ShardFacts = {
  readonly record: ShardRecord;
  /** What the data itself says; left out where the record is enough. */
  readonly counts?: ShardCounts;
};

/** Whether SHARDS is what the data is laid out for: with another value most workspaces would look empty. */
export function judgeShards({ record, counts }: ShardFacts, shardCount: number): Finding[] {
  if (record.movingTo !== undefined) return [error('shards_moving', describeResharding(record, record.movingTo))];
  if (record.count !== undefined && record.count !== shardCount) {
    return [error('shards_differ', describeDifference(record.count, shardCount))];
  }
  return counts ? judgeCounts(counts, shardCount, record.count !== undefined) : [];
}

/** What the data says for itself, of which a record that agrees with SHARDS may know better. */
function judgeCounts({ sampled, fitting, started }: ShardCounts, shardCount: number, isRecorded: boolean): Finding[] {
  const likely = fitting.includes(started) ? started : fitting[0];
  if (sampled > 0 && (likely === undefined || (isRecorded && !fitting.includes(shardCount)))) {
    return [
      error(
        'shards_mixed',
        'the data in this Redis was written with several values of SHARDS; find out which process has another one, and stop it',
      ),
    ];
  }
  if (sampled > 0 && likely !== undefined && !fitting.includes(shardCount)) {
    return [error('shards_differ', describeDifference(likely, shardCount))];
  }
  if (started > 0 && started !== shardCount) {
    return [
      {
        level: 'warning',
        code: 'shards_changed',
        sentence: `SHARDS is ${shardCount}, and a process of an earlier release was started on this Redis with ${started}; it must be the same everywhere`,
      },
    ];
  }
  return [];
}

/** What is wrong when SHARDS isn't what the data is laid out for, and the two things that can be done. */
export function describeDifference(laidOutFor: number, shardCount: number): string {
  return (
    `SHARDS is ${shardCount}, but the data in this Redis is laid out for ${laidOutFor}; ` +
    `set SHARDS=${laidOutFor} everywhere, or stop every API and worker and reshard the data with "herald shards reshard --to ${shardCount}".`
  );
}

export function describeResharding({ count }: ShardRecord, movingTo: number): string {
  return (
    `The resharding of the data in this Redis ${count === undefined ? '' : `from ${count} `}to ${movingTo} shards is not complete; ` +
    `finish it with "herald shards reshard --to ${movingTo}", and start with SHARDS=${movingTo} afterwards.`
  );
}

function error(code: string, sentence: string): Finding {
  return { level: 'error', code, sentence };
}
