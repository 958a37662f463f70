import type { Finding, ShardCounts } from '@herald/infra';
import { error, warning } from './check.ts';

/** Whether SHARDS is what the data was written with: with another value most workspaces look empty. */
export function judgeShards({ sampled, fitting, started }: ShardCounts, shardCount: number): Finding[] {
  const likely = fitting.includes(started) ? started : fitting[0];
  if (sampled > 0 && likely === undefined) {
    return [
      error(
        'shards_mixed',
        'the data in this Redis was written with several values of SHARDS; find out which process has another one, and stop it',
      ),
    ];
  }
  if (sampled > 0 && !fitting.includes(shardCount)) {
    return [
      error(
        'shards_differ',
        `SHARDS is ${shardCount}, but the data in this Redis was written with ${likely}: what it holds would not be found; set SHARDS=${likely} everywhere`,
      ),
    ];
  }
  if (started > 0 && started !== shardCount) {
    return [
      warning(
        'shards_changed',
        `SHARDS is ${shardCount}, and a process was started on this Redis with ${started}; it must be the same everywhere, and for ever`,
      ),
    ];
  }
  return [];
}
