import type { RedisClient } from '@herald/store/redis/connect-redis';
import { readScoredIds } from '@herald/store/keyspace/scored-ids';

/** Members in one command: a set of millions must neither block Redis nor fill this process' memory. */
const PAGE = 1_000;

/**
 * Copies a key with its expiry, and replaces the target. The value passes through this process, since the two keys may
 * be on different servers.
 * @returns false when there is nothing to copy
 */
export async function copyKey(redis: RedisClient, from: string, to: string): Promise<boolean> {
  const [value, expiresAt] = await Promise.all([
    redis.dumpBuffer(from) as Promise<Buffer | null>,
    redis.pexpiretime(from),
  ]);
  if (value === null || expiresAt === -2) return false;
  await redis.restore(to, Math.max(0, expiresAt), value, 'REPLACE', 'ABSTTL');
  return true;
}

/** As `copyKey`, for a sorted set of any size. The target may hold some of its members already, and no others. */
export async function copySortedSet(redis: RedisClient, from: string, to: string): Promise<boolean> {
  if ((await redis.zcard(from)) <= PAGE) return await copyKey(redis, from, to);
  const expiresAt = await redis.pexpiretime(from);
  for (let offset = 0, size = PAGE; size === PAGE; offset += size) {
    const page = readScoredIds(await redis.zrange(from, offset, String(offset + PAGE - 1), 'WITHSCORES'));
    if (page.length > 0) await redis.zadd(to, ...page.flatMap(({ score, id }) => [score, id]));
    size = page.length;
  }
  if (expiresAt > 0) await redis.pexpireat(to, expiresAt);
  return true;
}
