import { createKeyspace, type RedisClient, type ShardKeys } from '@herald/infra';
import { waitFor } from '@herald/test-kit';

/** What a Herald still has to do. */
export interface Duties {
  /** Transitions with pending deliveries. */
  open: number;
  /** Transitions whose jobs are owed. */
  owed: number;
  /** Jobs in line, at work, or delayed. */
  jobs: number;
}

/** The keys of the one shard that tests run with. */
export function shardKeys(): ShardKeys {
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  return keys;
}

export async function readDuties(redis: RedisClient, shardCount = 1): Promise<Duties> {
  const shards = await Promise.all(createKeyspace(shardCount).shards.map((keys) => readShardDuties(redis, keys)));
  const sum = (name: keyof Duties) => shards.reduce((total, shard) => total + shard[name], 0);
  return { open: sum('open'), owed: sum('owed'), jobs: sum('jobs') };
}

async function readShardDuties(redis: RedisClient, { open, owed, bullPrefix }: ShardKeys): Promise<Duties> {
  const line = `${bullPrefix}:deliveries`;
  const lane = `${bullPrefix}:tests`;
  const jobs = await Promise.all([
    ...[line, lane].flatMap((queue) => [redis.llen(`${queue}:wait`), redis.llen(`${queue}:active`)]),
    ...[line, lane].map((queue) => redis.zcard(`${queue}:delayed`)),
  ]);
  return {
    open: await redis.zcard(open),
    owed: await redis.zcard(owed),
    jobs: jobs.reduce((sum, count) => sum + count, 0),
  };
}

/**
 * Waits until nothing is pending, owed, in line or at work. From then on nothing more can reach a receiver, and what
 * didn't arrive never will: the way to see that something was not sent, without waiting for it.
 */
export async function waitUntilSettled(redis: RedisClient, deadlineMs = 20_000, shardCount = 1): Promise<void> {
  await waitFor('every delivery to be settled', () => readDuties(redis, shardCount), {
    until: ({ open, owed, jobs }) => open + owed + jobs === 0,
    deadlineMs,
  });
}

/** A delivery's record, and how many attempts it was given. */
export async function readDelivery(redis: RedisClient, id: string) {
  const keys = shardKeys();
  const [fields, attempts] = await Promise.all([redis.hgetall(keys.delivery(id)), redis.llen(keys.attempts(id))]);
  return { status: fields.s, reason: fields.why, tries: Number(fields.n), attempts };
}

export async function hasJob(redis: RedisClient, id: string): Promise<boolean> {
  return (await redis.exists(`${shardKeys().bullPrefix}:deliveries:${id}`)) === 1;
}
