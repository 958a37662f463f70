import {
  createFindRunning,
  createProcessPresence,
  moveShards,
  type MoveProgress,
  type MoveReport,
} from '@herald/infra';
import type { Herald } from '../open-herald.ts';

export type MoveTold = {
  readonly onProgress: (progress: MoveProgress) => void;
  readonly onWatch: (processes: number, forMs: number) => void;
};

/** Moves the service's data to `to` shards. */
export async function moveTo(
  { redis, confirmWrite, config, now }: Herald,
  to: number,
  { onProgress, onWatch }: MoveTold,
): Promise<MoveReport> {
  const findRunning = createFindRunning({ redis, presence: createProcessPresence(redis, now), onWatch });
  return await moveShards({ redis, confirmWrite, findRunning, onProgress, now }, config.shardCount, to);
}
