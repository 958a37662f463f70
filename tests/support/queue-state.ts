import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keys/keys';
import { scoreOf } from '@herald/queue';
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

/** Lets an open breaker wait for an hour, so that what goes out is no probe of its own. */
export async function delayProbe(redis: RedisClient, group: string): Promise<void> {
  const { queue } = shardKeys();
  const probeAt = Date.now() + 3_600_000;
  await redis.multi().hset(queue.group(group), 'probe', probeAt).zadd(queue.later, 'XX', probeAt, group).exec();
}

/** Lets a delivery's next try be due now: the wait is as long as a test needs before. */
export async function expediteTry(redis: RedisClient, group: string, id: string): Promise<void> {
  const { queue, delivery } = shardKeys();
  const now = Date.now();
  await redis
    .multi()
    .hset(delivery(id), 'due', now)
    .zadd(queue.waiting(group), 'XX', scoreOf('usual', now), id)
    .zadd(queue.later, 'XX', 0, group)
    .zadd(queue.wake(0), 0, '0')
    .exec();
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
