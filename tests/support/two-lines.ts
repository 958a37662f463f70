import type { Task } from '@herald/core';
import {
  closeRedis,
  connectRedis,
  createBacklogStore,
  createDeliveryRetention,
  createDeliveryStore,
  createKeyspace,
  createTakeJobs,
  createTaskRetention,
  createTaskStore,
  createTransitionStore,
  type RedisClient,
} from '@herald/infra';
import { startRedis } from '@herald/test-kit';
import { Queue } from 'bullmq';
import { buildTask, newWorkspaceId } from './start-stores.ts';

const DAY_MS = 86_400_000;
const RETENTION_MS = 7 * DAY_MS;

/** Two empty queues on one Redis, one for BullMQ and one for us. */
export async function startQueues() {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await startRedis());
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'test',
    onError: () => undefined,
  });
  cleanUp.defer(() => closeRedis(redis));
  const keyspace = createKeyspace(2);
  const [taskRetention, deliveryRetention] = [createTaskRetention(30 * DAY_MS), createDeliveryRetention(RETENTION_MS)];
  const tasks = createTaskStore({ redis, keyspace, retention: taskRetention });
  const transitions = createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention });
  // All scripts before the first command.
  const stores = keyspace.shards.map((keys) => ({
    keys,
    backlog: createBacklogStore({ redis, keys }),
    take: createTakeJobs({ redis, keys, queue: 'deliveries' }),
    deliveries: createDeliveryStore({ redis, keys, retention: deliveryRetention }),
  }));
  const queues = stores.map(({ keys, ...own }) => {
    const bullmq = new Queue('deliveries', {
      ...{ connection: redis, prefix: keys.bullPrefix },
      streams: { events: { maxLen: 1_000 } },
    });
    cleanUp.defer(() => bullmq.close());
    /** A Task of a workspace that lies in this queue's shard. */
    const createTask = async (): Promise<Task> => {
      const workspaces = Array.from({ length: 64 }, newWorkspaceId);
      const task = buildTask(workspaces.find((id) => keyspace.of(id) === keys) ?? '');
      await tasks.create(task);
      return task;
    };
    return { ...own, keys, createTask, commit: transitions.commit, bullmq };
  });
  const [left, right] = queues;
  if (!left || !right) throw new Error('there are two shards');
  await Promise.all(queues.map(({ bullmq }) => bullmq.waitUntilReady()));
  const stack = cleanUp.move();
  return { redis, left, right, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
export type Side = Awaited<ReturnType<typeof startQueues>>['left'];

/** All keys of a queue with all they hold, in its order; the moment of the adding is told only where it would be wrong. */
export async function readQueue(redis: RedisClient, { keys }: Side): Promise<Record<string, unknown>> {
  const prefix = `${keys.bullPrefix}:deliveries:`;
  const names = (await redis.keys(`${prefix}*`)).filter((name) => !name.endsWith(':events')).sort();
  const entries = await Promise.all(
    names.map(async (name) => {
      const type = await redis.type(name);
      const read = {
        hash: () => redis.call('HGETALL', name),
        list: () => redis.lrange(name, 0, -1),
        zset: () => redis.zrange(name, 0, '-1', 'WITHSCORES'),
        set: async () => (await redis.smembers(name)).sort(),
        string: () => redis.get(name),
      }[type];
      const value: unknown = await read?.();
      const shown = JSON.stringify(value).replace(/"(timestamp|processedOn)","\d{13}"/g, '"$1","<now>"');
      return [name.slice(prefix.length), { type, value: shown, ttl: await redis.ttl(name) }] as const;
    }),
  );
  return Object.fromEntries(entries);
}
