import { createFindRunning } from '@herald/store/shards/find-running';
import { createProcessPresence } from '@herald/store/shards/process-presence';
import { moveShards, type MoveProgress, type MoveReport } from './move/move-shards.ts';
import type { Herald } from '../context/open-herald.ts';

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
