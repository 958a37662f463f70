import { answerWithin } from '@herald/runtime/async/answer-within';
import type { Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';
import { RedisUnreachableError, type RedisClient } from '../redis/connect-redis.ts';
import { describeTarget } from '../server/redis-target.ts';
import { checkAccess, checkRedis, type CheckAccessOptions, type CheckRedisOptions } from './check-redis.ts';

const ANSWER_LIMIT_MS = 5_000;

/**
 * Refuses to start a process on a Redis that lacks what Herald needs. Call it before anything is written.
 * @returns warnings, which stop no process
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandUsableRedis(redis: RedisClient, options: CheckRedisOptions): Promise<readonly Finding[]> {
  const found = await checkRedis(redis, options);
  refuseErrors(found, options);
  return found;
}

/**
 * The same for a command that only reads: it works on a Redis that is full or evicts, so that operators can look at it.
 * @throws RedisUnreachableError with one sentence, which says what to set
 */
export async function demandAccess(redis: RedisClient, options: CheckAccessOptions): Promise<void> {
  refuseErrors(await answerWithin(ANSWER_LIMIT_MS, checkAccess(redis, options), () => []), options);
}

/** Logs the warnings of `demandUsableRedis`. */
export function logRedisFindings(logger: Logger, findings: readonly Finding[]): void {
  for (const { code, sentence } of findings) logger.warn('redis.finding', { code, sentence });
}

function refuseErrors(found: readonly Finding[], { target }: CheckAccessOptions): void {
  const error = found.find(({ level }) => level === 'error');
  if (!error) return;
  throw new RedisUnreachableError(`${describeTarget(target)} can't be used: ${error.sentence}.`, error.code);
}
