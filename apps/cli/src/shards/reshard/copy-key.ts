import type { RedisClient } from '@herald/store/redis/connect-redis';

/** Members in one command: a list of millions must neither stop Redis nor fill our memory. */
const PAGE = 1_000;

/**
 * Copies a key with its time to live; what is in the other's place is replaced. Goes through this process, since the two may
 * be on different servers.
 * @returns false when there is nothing to copy, or no longer
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

/** As `copyKey`, for a sorted set of any size. What is there already must be a part of the same. */
export async function copySortedSet(redis: RedisClient, from: string, to: string): Promise<boolean> {
  if ((await redis.zcard(from)) <= PAGE) return await copyKey(redis, from, to);
  const expiresAt = await redis.pexpiretime(from);
  for (let offset = 0; ; offset += PAGE) {
    const rows = await redis.zrange(from, offset, String(offset + PAGE - 1), 'WITHSCORES');
    if (rows.length > 0) await redis.zadd(to, ...toScoresFirst(rows));
    if (rows.length < 2 * PAGE) break;
  }
  if (expiresAt > 0) await redis.pexpireat(to, expiresAt);
  return true;
}

/** A reply with scores, as ZADD wants it. */
export function toScoresFirst(rows: readonly string[]): string[] {
  return rows.flatMap((member, index) => (index % 2 === 0 ? [rows[index + 1] ?? '', member] : []));
}
