import { readAttempts } from '@herald/store/lists/delivery-reader';
import { createKeyspace, type ShardKeys } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { waitFor } from '@herald/test-kit';

/** What a Herald still has to do. */
export interface PendingWork {
  /** Groups with waiting deliveries, and deliveries in work. */
  jobs: number;
}

const RINGS = [0, 1, 2, 3] as const;

/** The keys of the one shard that tests run with. */
export function shardKeys(): ShardKeys {
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  return keys;
}

export async function readPendingWork(redis: RedisClient, shardCount = 1): Promise<PendingWork> {
  const shards = await Promise.all(createKeyspace(shardCount).shards.map((keys) => readShardWork(redis, keys)));
  const sum = (name: keyof PendingWork) => shards.reduce((total, shard) => total + shard[name], 0);
  return { jobs: sum('jobs') };
}

async function readShardWork(redis: RedisClient, { queue }: ShardKeys): Promise<PendingWork> {
  const sets = [queue.leases, queue.later, ...RINGS.map(queue.ready)];
  const counts = await Promise.all(sets.map((key) => redis.zcard(key)));
  return { jobs: counts.reduce((sum, count) => sum + count, 0) };
}

/**
 * Waits until nothing waits in the queue or is in work. From then on nothing more can reach a receiver, and what
 * didn't arrive never will: the way to see that something was not sent, without waiting for it.
 */
export async function waitUntilSettled(redis: RedisClient, deadlineMs = 20_000, shardCount = 1): Promise<void> {
  await waitFor('every delivery to be settled', () => readPendingWork(redis, shardCount), {
    until: ({ jobs }) => jobs === 0,
    deadlineMs,
  });
}

/** A delivery's record, and how many attempts it was given. */
export async function readDelivery(redis: RedisClient, id: string) {
  const keys = shardKeys();
  const [fields, attempts] = await Promise.all([redis.hgetall(keys.delivery(id)), readAttempts(redis, keys, id)]);
  return { status: fields.s, reason: fields.why, tries: Number(fields.n ?? 0), attempts: attempts.length };
}
