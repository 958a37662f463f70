import { createFindRunning } from '@herald/store/shards/find-running';
import { createProcessPresence } from '@herald/store/shards/process-presence';
import { reshard, type ReshardProgress, type ReshardReport } from './reshard/reshard.ts';
import type { Herald } from '../context/open-herald.ts';

export type ReshardTold = {
  readonly onProgress: (progress: ReshardProgress) => void;
  readonly onWatch: (processes: number, forMs: number) => void;
};

/** Reshards the service's data to `to` shards. */
export async function reshardTo(
  { redis, awaitReplication, config, now }: Herald,
  to: number,
  { onProgress, onWatch }: ReshardTold,
): Promise<ReshardReport> {
  const findRunning = createFindRunning({ redis, presence: createProcessPresence(redis, now), onWatch });
  return await reshard({ redis, awaitReplication, findRunning, onProgress, now }, config.shardCount, to);
}
