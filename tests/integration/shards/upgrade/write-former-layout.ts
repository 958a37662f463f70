import { createKeyspace, GLOBAL_KEYS } from '@herald/store/keyspace/keys';
import { readKeyName } from '@herald/store/shards/key-name';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { Queue } from 'bullmq';
import { listKeys } from '../../../support/start-topology.ts';
import type { FilledWorkspace } from '../fill-workspace.ts';

const QUEUE_KINDS = new Set(['waiting', 'ready', 'wake', 'later', 'leases', 'settings', 'group', 'bucket', 'lanes']);
/** What a former version had waiting for a destination that was live stood so far before what was replayed. */
const LIVE_BEFORE_REPLAYED_MS = 1e12;
const BREAKER_TTL_MS = 90_000_000;

/** Lays the queue out as a former version did: BullMQ's lists, backlogs, breakers and marks. */
export async function writeFormerLayout(
  redis: RedisClient,
  shardCount: number,
  filled: readonly FilledWorkspace[],
): Promise<void> {
  for (const name of await listKeys(redis)) if (QUEUE_KINDS.has(readKeyName(name)?.kind ?? '')) await redis.del(name);
  await redis.del(GLOBAL_KEYS.shards);
  for (const each of filled) await writeWorkspace(redis, shardCount, each);
}

async function writeWorkspace(redis: RedisClient, shardCount: number, filled: FilledWorkspace): Promise<void> {
  const { prefix, delivery } = createKeyspace(shardCount).of(filled.workspaceId);
  const { now, good, slow } = filled;
  const open = async (name: string) => {
    const queue = new Queue(name, { connection: redis, prefix: prefix.slice(0, -1) });
    await queue.waitUntilReady();
    return queue;
  };
  const [deliveries, tests] = [await open('deliveries'), await open('tests')];
  const add = async (id: string, dueAt = now) => {
    await deliveries.add('task.done', {}, { jobId: id, timestamp: now, delay: Math.max(0, dueAt - Date.now()) });
  };
  await add(filled.inWork);
  // A worker died with it.
  await redis.lmove(deliveries.toKey('wait'), deliveries.toKey('active'), 'RIGHT', 'LEFT');
  await redis.set(deliveries.toKey(`${filled.inWork}:lock`), 'token', 'PX', 30_000);
  await add(filled.waiting);
  await add(filled.ofDisabled);
  await add(filled.delayed, now + 3_600_000);
  await add(filled.retriedReplay, now + 3_000);
  await tests.add('webhook.test', {}, { jobId: filled.testEvent });

  const wait = async (destination: string, id: string, score: number) => {
    await redis.zadd(`${prefix}b:${destination}`, score, id);
    await redis.zadd(`${prefix}backlogs`, now, destination);
  };
  await wait(slow.destination, filled.heldBack, now - LIVE_BEFORE_REPLAYED_MS);
  await wait(good.destination, filled.replayed, now + 2_000);
  await redis.hset(`${prefix}k:${slow.destination}`, filled.breaker);
  await redis.pexpire(`${prefix}k:${slow.destination}`, BREAKER_TTL_MS);
  await redis.hset(`${prefix}k:${good.destination}`, 'unknown', '1'); // nothing of it is to be copied

  await redis.zadd(`${prefix}owed`, now + 1_000, filled.redelivered);
  const pending = [filled.waiting, filled.inWork, filled.delayed, filled.heldBack, filled.ofRemoved, filled.testEvent];
  for (const id of pending) {
    const transition = await redis.hget(delivery(id), 'x');
    await redis.zadd(`${prefix}open`, now + 60_000, transition ?? '');
    // An API died before it added the job.
    if (id === filled.ofRemoved) await redis.zadd(`${prefix}owed`, now, transition ?? '');
  }
  await Promise.all([deliveries, tests].map((queue) => queue.close()));
}
