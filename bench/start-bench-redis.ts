import { startRedis, type RunningRedis } from '@herald/test-kit';

/** When a write reaches the disk: within about a second, or before its answer. */
export const FSYNCS = ['everysec', 'always'] as const;
export type Fsync = (typeof FSYNCS)[number];

/**
 * A Redis as production should have it: AOF synced every second, noeviction, compact hashes; test-kit sets the last
 * two.
 */
export function startBenchRedis(fsync: Fsync = 'everysec'): Promise<RunningRedis> {
  return startRedis({ appendonly: true, args: ['--appendfsync', fsync] });
}
