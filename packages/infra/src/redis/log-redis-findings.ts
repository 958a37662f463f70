import type { Logger } from '../log/logger.ts';
import { checkRedis, type CheckRedisOptions } from './check-redis.ts';
import type { RedisClient } from './connect-redis.ts';

/** Says at start-up what should be set otherwise in Redis. Nothing here stops a process: it may be an operator's choice. */
export async function logRedisFindings(redis: RedisClient, logger: Logger, options: CheckRedisOptions): Promise<void> {
  try {
    for (const { code, sentence } of await checkRedis(redis, options)) {
      logger.warn('redis.finding', { code, sentence });
    }
  } catch (error) {
    logger.warn('redis.check_failed', {}, error);
  }
}
