import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keys/keys';
import { shardKeys } from './delivery-state.ts';
import { listKeys } from './start-topology.ts';

/** Ids of the deliveries that a shard's queue has. */
export interface QueuedIds {
  waiting: string[];
  inWork: string[];
}

export async function readQueuedIds(
  redis: RedisClient,
  { prefix, queue }: ShardKeys = shardKeys(),
): Promise<QueuedIds> {
  const groups = await listKeys(redis, `${prefix}q:*`);
  const waiting = await Promise.all(groups.map((key) => redis.zrange(key, 0, '-1')));
  const leases = await redis.zrange(queue.leases, 0, '-1');
  return { waiting: waiting.flat(), inWork: leases.map((handle) => handle.split('|')[3] ?? '') };
}

/** Whether a delivery waits, or is in work. */
export async function isQueued(redis: RedisClient, id: string): Promise<boolean> {
  const { waiting, inWork } = await readQueuedIds(redis);
  return waiting.includes(id) || inWork.includes(id);
}

/** How many deliveries of a group wait. */
export async function countWaiting(redis: RedisClient, group: string): Promise<number> {
  return await redis.zcard(shardKeys().queue.waiting(group));
}

export async function isBreakerOpen(redis: RedisClient, group: string): Promise<boolean> {
  return (await redis.hget(shardKeys().queue.group(group), 'open')) === '1';
}

/** Lets an open breaker's next probe be due now: a wait of minutes is tested by moving its end, not by sitting it out. */
export async function expediteProbe(
  redis: RedisClient,
  group: string,
  { queue }: ShardKeys = shardKeys(),
): Promise<void> {
  await redis
    .multi()
    .hset(queue.group(group), 'probe', 0)
    .zadd(queue.later, 'XX', 0, group)
    .zadd(queue.wake(0), 0, '0')
    .exec();
}
