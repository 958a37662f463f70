import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { HttpAnswer, RequestOptions } from './http-request.ts';
import { listKeys } from './start-topology.ts';

/** The header that marks the answer of an earlier run. */
export const REPLAYED = 'idempotency-replayed';

/** Options of a request with this `Idempotency-Key`. */
export function under(key: string, options: RequestOptions = {}): RequestOptions {
  return { ...options, headers: { ...options.headers, 'idempotency-key': key } };
}

export function isReplayed({ headers }: HttpAnswer): boolean {
  return headers[REPLAYED] === 'true';
}

/** Redis keys of all idempotency records. */
export async function listIdempotencyRecords(redis: RedisClient): Promise<string[]> {
  return await listKeys(redis, 'herald:claim:*');
}

/** As if the lease of every record had run out: a minute that no test waits for. */
export async function endLeases(redis: RedisClient): Promise<void> {
  for (const key of await listIdempotencyRecords(redis)) await redis.hset(key, 'until', 0);
}
