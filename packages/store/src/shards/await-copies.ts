import { RedisUnreachableError } from '../redis/connect-redis.ts';
import type { AwaitReplication } from '../scripts/await-replication.ts';

/**
 * Waits until replicas have the keys, where REDIS_MIN_REPLICAS asks for that: a master of a cluster that dies with a copy must not be the
 * only one that had it when its original is deleted on another.
 */
export type AwaitCopies = (keys: readonly string[]) => Promise<void>;

export function createAwaitCopies(awaitReplication: AwaitReplication | undefined): AwaitCopies {
  if (!awaitReplication) return () => Promise.resolve();
  return async (keys) => {
    const replicated = await Promise.all(keys.map((key) => awaitReplication({ key })));
    if (replicated.includes(false)) {
      throw new RedisUnreachableError(
        'Too few replicas of Redis have what was copied. Look after them, and start this again.',
      );
    }
  };
}
