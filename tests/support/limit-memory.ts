import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';

/** Limits the memory of every server that holds data, in bytes; 0 is no limit. From 1 on a write is refused (`OOM`). */
export async function limitMemory(redis: RedisClient, bytes: number): Promise<void> {
  await Promise.all(mastersOf(redis).map((master) => master.config('SET', 'maxmemory', bytes)));
}
