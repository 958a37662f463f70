import { setImmediate as nextRound } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect-redis.ts';

/**
 * Calls back at a moment when no command of these clients waits in a pipeline that is being filled, so that the callback may define scripts
 * (see `defineScript`): a clock or a heartbeat may have just sent one. The callback must define them before its first await.
 */
export async function whenIdle<T>(
  clients: readonly Pick<RedisClient, 'autoPipelineQueueSize'>[],
  use: () => T,
): Promise<T> {
  while (clients.some(({ autoPipelineQueueSize }) => autoPipelineQueueSize > 0)) await nextRound();
  return use();
}
