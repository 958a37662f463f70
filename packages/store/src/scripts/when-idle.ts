import { setImmediate as nextRound } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect-redis.ts';

/**
 * Calls back when none of these clients is filling a pipeline, as a clock or a heartbeat may just have begun one. So
 * the callback may define scripts (see `defineScript`). It must define them before its first await.
 */
export async function whenIdle<T>(
  clients: readonly Pick<RedisClient, 'autoPipelineQueueSize'>[],
  use: () => T,
): Promise<T> {
  while (clients.some(({ autoPipelineQueueSize }) => autoPipelineQueueSize > 0)) await nextRound();
  return use();
}
