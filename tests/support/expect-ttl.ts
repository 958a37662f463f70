import type { RedisClient } from '@herald/store/redis/connect-redis';

/** Between the write and the look, in ms. */
const PASSED_MS = 60_000;

/** A key lives as long as it should, in ms: not only for some time. */
export async function expectTtl(redis: RedisClient, key: string, ttlMs: number): Promise<void> {
  const left = await redis.pttl(key);
  expect(left).toBeGreaterThan(ttlMs - Math.min(PASSED_MS, ttlMs / 2));
  expect(left).toBeLessThanOrEqual(ttlMs);
}
