import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { createDeliveryRetention, type DeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createKeyspace } from '@herald/store/keys/keys';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTransitionStore } from '@herald/store/tasks/transition-store';
import { newRevision } from '@herald/store/redis/random-token';
import { newReceiverId, newTaskId, type Endpoint, type Task } from '@herald/core';
import { randomBytes } from 'node:crypto';
import { createLeases } from './leases.ts';
import { startTopology, topologyOfEnv } from './start-topology.ts';

const DAY_MS = 86_400_000;

export type Stores = Awaited<ReturnType<typeof startStores>>;

/** Infra's stores, all on one Redis of their own, as one process has them. */
export async function startStores(
  shardCount = 1,
  now: () => number = Date.now,
  deliveryRetention: DeliveryRetention = createDeliveryRetention(7 * DAY_MS),
) {
  await using cleanUp = new AsyncDisposableStack();
  const { target } = cleanUp.use(await startTopology(topologyOfEnv()));
  const connect = async (name: string): Promise<RedisClient> => {
    const redis = await connectRedis({ target, use: 'request', name, onError: () => undefined });
    cleanUp.defer(() => closeRedis(redis));
    return redis;
  };
  const keyspace = createKeyspace(shardCount);
  const [keys] = keyspace.shards;
  if (!keys) throw new Error('there is always a first shard');
  const taskRetention = createTaskRetention(30 * DAY_MS);
  const createAll = (redis: RedisClient) => ({
    redis,
    receivers: createReceiverStore({ redis, keyspace }),
    tasks: createTaskStore({ redis, keyspace, retention: taskRetention }),
    transitions: createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention, now }),
    deliveries: createDeliveryStore({ redis, keys, retention: deliveryRetention }),
    testEvents: createTestEventStore({ redis, keyspace, retention: deliveryRetention }),
  });
  const firstRedis = await connect('first');
  const first = { ...createAll(firstRedis), leases: createLeases(firstRedis, keys) };
  // As a second process would have them: races go over two connections.
  const second = createAll(await connect('second'));
  const stack = cleanUp.move();
  return { ...first, second, keys, keyspace, target, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export function newWorkspaceId(): string {
  return `ws_${randomBytes(6).toString('hex')}`;
}

export function buildReceiver(workspaceId: string, more: Partial<Endpoint> = {}): Endpoint {
  const createdAt = more.createdAt ?? Date.now();
  const url = 'https://hooks.example.com/in';
  return {
    id: newReceiverId(createdAt),
    workspaceId,
    url,
    events: [],
    description: '',
    enabled: true,
    createdAt,
    ...more,
  };
}

export function buildTask(workspaceId: string, more: Partial<Task> = {}): Task {
  const createdAt = more.createdAt ?? Date.now();
  return {
    id: newTaskId(createdAt),
    workspaceId,
    executionWorkspaceId: workspaceId,
    createdAt,
    updatedAt: createdAt,
    status: 'running',
    sequence: 0,
    revision: newRevision(),
    ...more,
  };
}
