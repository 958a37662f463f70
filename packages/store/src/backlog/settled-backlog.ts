import { readScoredIds, type ShardKeys } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** Added to the score (epoch ms) of what was set aside: it comes behind all that waits. */
export const ASIDE = 10_000_000_000_000;

/**
 * How many settled deliveries of a shard are in Redis for the history, when the first of those that only wait settled, and
 * how many were set aside, because they couldn't be moved.
 */
export async function readSettledBacklog(redis: RedisClient, keys: ShardKeys) {
  const [count, aside, rows] = await Promise.all([
    redis.zcard(keys.settled),
    redis.zcount(keys.settled, ASIDE, '+inf'),
    redis.zrange(keys.settled, 0, '0', 'WITHSCORES'),
  ]);
  const [first] = readScoredIds(rows);
  return { count, aside, ...(first && first.score < ASIDE && { oldestAt: first.score }) };
}
