import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace } from '../redis/keys.ts';

/** Marks "jobs owed" whose time passed before `before` (epoch ms). A sweeper that takes one moves its time on. */
export async function countOldOwed(redis: RedisClient, keyspace: Keyspace, before: number): Promise<number> {
  const counts = await Promise.all(keyspace.shards.map(({ owed }) => redis.zcount(owed, '-inf', before)));
  return counts.reduce((sum, count) => sum + count, 0);
}
