import type { ShardKeys } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import type { RedisClient } from '../redis/connect-redis.ts';

/** How many settled deliveries of a shard are in Redis for the history, and when the first of them settled. */
export async function readSettledBacklog(redis: RedisClient, keys: ShardKeys) {
  const [count, rows] = await Promise.all([
    redis.zcard(keys.settled),
    redis.zrange(keys.settled, 0, '0', 'WITHSCORES'),
  ]);
  const [first] = readScoredIds(rows);
  return { count, ...(first && { oldestAt: first.score }) };
}
