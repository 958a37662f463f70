import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { isRedisRefusal, isRedisUnavailable } from '../server/is-redis-unavailable.ts';
import { sayRefusal } from '../server/refusal.ts';
import { RedisUnreachableError } from './connect-redis.ts';

/**
 * Why Redis kept a process from starting; undefined for another cause. Gives only the message of a refusal: the error
 * carries the command, and with it a script, a key's digest or an encrypted secret.
 */
export function explainStartFailure(error: unknown): string | undefined {
  if (error instanceof RedisUnreachableError) return error.message;
  if (!isRedisRefusal(error) && !(isErrorLike(error) && isRedisUnavailable(error))) return undefined;
  return `Redis failed this start (${sayRefusal(error)}); "herald doctor" says what to set.`;
}
