import { DomainError, ReceiverDisabledError, ReceiverLockedError } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { isRedisRefusal, isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { sayRefusal } from '@herald/store/server/refusal';

/** A sentence about what can be foreseen. @throws the error itself, when it is unforeseen */
export function explainFailure(error: unknown): string {
  if (error instanceof ConfigError || error instanceof RedisUnreachableError) return error.message;
  if (error instanceof ReceiverDisabledError) {
    const { endpointId } = error;
    return `error: ${endpointId} is disabled; enable it first: herald receivers enable ${endpointId}`;
  }
  if (error instanceof ReceiverLockedError) {
    const { endpointId, reason } = error;
    const why = reason === '' ? '' : ` (${reason})`;
    return `error: ${endpointId} is locked${why}; lift the lock first: herald receivers enable ${endpointId}`;
  }
  if (error instanceof DomainError) return `error: ${error.message}`;
  // Only the message: the error also holds the command, and with it the digest of a key or an encrypted secret.
  if (isRedisRefusal(error)) return `Redis refused: ${sayRefusal(error)}`;
  if (isRedisUnavailable(error)) return 'Redis stopped answering. Run this again when it is back.';
  throw error;
}
