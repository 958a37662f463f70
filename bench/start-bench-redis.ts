import { startRedis, type RunningRedis } from '@herald/test-kit';

/** A Redis as production should have it: AOF synced every second, noeviction, compact hashes; test-kit sets the last two. */
export function startBenchRedis(): Promise<RunningRedis> {
  return startRedis({ appendonly: true });
}
