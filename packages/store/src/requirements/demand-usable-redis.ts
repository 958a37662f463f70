import { answerWithin } from '@herald/runtime/async/answer-within';
import { checkAccess, checkRedis, type CheckAccessOptions, type CheckRedisOptions } from './check-redis.ts';
import { RedisUnreachableError, type RedisClient } from '../redis/connect-redis.ts';
import { describeTarget } from '../server/redis-target.ts';
import type { Finding } from '@herald/runtime/findings/finding';

const ANSWER_LIMIT_MS = 5_000;

/**
 * Lets a process start whose Redis has all that it needs. To be asked before anything is written.
 * @returns what should be set otherwise, and stops nobody
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandUsableRedis(redis: RedisClient, options: CheckRedisOptions): Promise<readonly Finding[]> {
  const found = await checkRedis(redis, options);
  refuseErrors(found, options);
  return found;
}

/**
 * The same for a command that may do no more than read, so that a Redis that is full or evicts can be looked at.
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandAccess(redis: RedisClient, options: CheckAccessOptions): Promise<void> {
  refuseErrors(await answerWithin(ANSWER_LIMIT_MS, checkAccess(redis, options), () => []), options);
}

function refuseErrors(found: readonly Finding[], { target }: CheckAccessOptions): void {
  const error = found.find(({ level }) => level === 'error');
  if (!error) return;
  throw new RedisUnreachableError(`${describeTarget(target)} can't be used: ${error.sentence}.`, error.code);
}
