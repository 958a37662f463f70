import { RedisUnreachableError } from '../redis/connect-redis.ts';
import type { ConfirmWrite } from '../scripts/write-confirmation.ts';

/**
 * Waits until replicas have the keys, where REDIS_MIN_REPLICAS asks for that: a master of a cluster that dies with a copy must not be the
 * only one that had it when its original is deleted on another.
 */
export type ConfirmCopies = (keys: readonly string[]) => Promise<void>;

export function createConfirmCopies(confirmWrite: ConfirmWrite | undefined): ConfirmCopies {
  if (!confirmWrite) return () => Promise.resolve();
  return async (keys) => {
    const confirmed = await Promise.all(keys.map((key) => confirmWrite({ key })));
    if (confirmed.includes(false)) {
      throw new RedisUnreachableError(
        'Too few replicas of Redis confirmed what was copied. Look after them, and start this again.',
      );
    }
  };
}
