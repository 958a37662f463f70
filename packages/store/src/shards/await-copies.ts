import { RedisUnreachableError } from '../redis/connect-redis.ts';
import type { AwaitReplication } from '../redis/await-replication.ts';

/**
 * Waits until replicas have the copies, where REDIS_MIN_REPLICAS asks for that. Otherwise a master of a cluster could
 * die with the only copy after the original was deleted on another master.
 */
export type AwaitCopies = (keys: readonly string[]) => Promise<void>;

export function createAwaitCopies(awaitReplication: AwaitReplication | undefined): AwaitCopies {
  return async (keys) => {
    const replicated = await Promise.all(keys.map(async (key) => await awaitReplication?.({ key })));
    if (!replicated.includes(false)) return;
    throw new RedisUnreachableError(
      'Too few replicas of Redis have what was copied. Look after them, and start this again.',
    );
  };
}
