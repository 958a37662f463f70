import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';

interface SavedKey {
  readonly key: string;
  readonly dump: Buffer;
  readonly ttlMs: number;
}

/** What a Redis holds now, to go back to later: how else could one fact be reported on two paths, each as the first? */
export async function takeSnapshot(redis: RedisClient): Promise<readonly SavedKey[]> {
  // No transaction puts the keys of several back.
  if (mastersOf(redis).length > 1) throw new Error('this test needs one Redis server, and runs on several masters');
  const saved = await Promise.all(
    (await redis.keys('*')).map(async (key) => {
      const [dump, ttlMs] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key)]);
      return { key, dump, ttlMs: Math.max(0, ttlMs) };
    }),
  );
  return saved.filter((entry): entry is SavedKey => (entry.dump as Buffer | null) !== null);
}

/** Puts everything back in one transaction: no process sees a state in between. */
export async function restoreSnapshot(redis: RedisClient, saved: readonly SavedKey[]): Promise<void> {
  const transaction = redis.multi().flushall();
  for (const { key, dump, ttlMs } of saved) transaction.restore(key, ttlMs, dump);
  const replies = (await transaction.exec()) ?? [];
  const failure = replies.find(([error]) => error !== null);
  if (failure?.[0]) throw failure[0];
}
