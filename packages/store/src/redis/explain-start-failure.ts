import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { isRedisRefusal, isRedisUnavailable } from '../server/is-redis-unavailable.ts';
import { sayRefusal } from '../server/refusal.ts';
import { RedisUnreachableError } from './connect-redis.ts';

/**
 * What to tell whoever started a process that Redis did not let start; undefined: it was something else. A refusal is told with its message
 * alone: the error carries the command, and so a script, a key's digest or an encrypted secret.
 */
export function explainStartFailure(error: unknown): string | undefined {
  if (error instanceof RedisUnreachableError) return error.message;
  if (!isRedisRefusal(error) && !(isErrorLike(error) && isRedisUnavailable(error))) return undefined;
  return `Redis failed this start (${sayRefusal(error)}); "herald doctor" says what to set.`;
}
