import type { ShardKeys } from '@herald/store/keys/keys';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';

/** Deliveries, transitions, and entries of logs. */
const PATTERNS = ['d:*', 'x:*', 'e:*:log*', 'w:*:callbacks*', 'failed', 'failed:*'];

/** Keys of a shard that are left although everything has moved to the history, as sentences. */
export async function findUnmoved(redis: RedisClient, { prefix }: ShardKeys): Promise<string[]> {
  const keys = await Promise.all(
    PATTERNS.flatMap((pattern) => mastersOf(redis).map((master) => master.keys(`${prefix}${pattern}`))),
  );
  return [...new Set(keys.flat())].map((key) => `${key} has not moved`);
}
