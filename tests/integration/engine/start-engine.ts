import { deliveryIdOf, newTestTransitionId, type AttemptVerdict, type DeliveryId, type Endpoint } from '@herald/core';
import {
  createBacklogStore,
  createDeliveryLog,
  createDeliveryQueue,
  createDeliveryRetention,
  createDeliveryStore,
  createPurgeStore,
  createReplaySteps,
  createReplayStore,
  newRevision,
  type DeliveryPlace,
  type RedisClient,
} from '@herald/infra';
import { buildReceiver, buildTask, newWorkspaceId, startStores } from '../../support/start-stores.ts';

export const RETENTION_MS = 7 * 86_400_000;
const DISABLE_AFTER_MS = 5 * 86_400_000;
export const LEASE_MS = 20_000;

export type Engine = Awaited<ReturnType<typeof startEngine>>;
type Receiver = Endpoint & { readonly destination: string };

/** What an attempt came to, as the worker tells the store. */
export interface Attempt {
  now: number;
  /** Default: delivered. */
  verdict?: AttemptVerdict;
  /** Default: whether it was delivered. */
  answered?: boolean;
  isProbe?: boolean;
  gone?: boolean;
  holdUntil?: number;
  place?: DeliveryPlace;
}

/** All that the engine keeps in Redis, as two workers and an API have it, and no process. */
export async function startEngine() {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.use(await startStores());
  const { keys, keyspace } = stores;
  const retention = createDeliveryRetention(RETENTION_MS);
  const createWorker = (redis: RedisClient) => ({
    deliveries: createDeliveryStore({ redis, keys, retention }),
    backlog: createBacklogStore({ redis, keys }),
    steps: createReplaySteps({ redis, keys, keepMs: RETENTION_MS }),
    purges: createPurgeStore({ redis, keys, retention }),
  });
  const worker = createWorker(stores.redis);
  const otherWorker = createWorker(stores.second.redis);
  const log = createDeliveryLog({ redis: stores.redis, keyspace });
  const replays = createReplayStore({ redis: stores.redis, keyspace, keepMs: RETENTION_MS });
  const queue = createDeliveryQueue({ redis: stores.redis, keys, name: 'deliveries' });
  cleanUp.defer(queue.close);

  const register = async (more: Partial<Endpoint> = {}): Promise<Receiver> => {
    const receiver = buildReceiver(more.workspaceId ?? newWorkspaceId(), more);
    await stores.receivers.register(receiver, 'sealed');
    const found = await stores.receivers.find(receiver.workspaceId, receiver.id);
    if (!found) throw new Error('it was registered just now');
    return found;
  };

  /** One transition to these receivers of one workspace; returns the ids of its deliveries, in their order. */
  const accept = async (
    receivers: readonly Receiver[],
    now: number,
  ): Promise<{ ids: DeliveryId[]; inBacklog: string[] }> => {
    const workspaceId = receivers[0]?.workspaceId ?? '';
    const task = buildTask(workspaceId, { createdAt: now });
    await stores.tasks.create(task);
    const { version } = await stores.receivers.findSubscriptions(workspaceId);
    const transitionId = newTestTransitionId();
    const reply = await stores.transitions.commit({
      ...{ task, newRevision: newRevision(), subscriptionVersion: version, now },
      ...{ change: { status: 'done', sequence: 1 }, factKey: 'done' },
      emission: {
        ...{ transitionId, event: 'task.done', body: '{"a":1}' },
        targets: receivers.map(({ id, destination, enabled }) => ({ endpointId: id, destination, enabled })),
      },
    });
    if (reply.kind !== 'accepted') throw new Error('nothing changed meanwhile');
    const ids = receivers.map(({ id }) => deliveryIdOf(transitionId, id));
    const pending = await stores.duties.findPending('deliveries', ids);
    // As if workers had fetched them: a test puts in line what it needs there.
    await queue.remove(ids);
    return { ids, inBacklog: pending.filter(({ isInBacklog }) => isInBacklog).map(({ id }) => id) };
  };
  const acceptOne = async (receiver: Receiver, now: number): Promise<DeliveryId> => {
    const [id] = (await accept([receiver], now)).ids;
    if (id === undefined) throw new Error('one receiver, one delivery');
    return id;
  };

  const load = async (id: DeliveryId) => {
    const loaded = await worker.deliveries.load(id);
    if (loaded.kind !== 'loaded') throw new Error(`${id} is ${loaded.kind}`);
    return loaded;
  };

  let attempts = 0;
  /** Records one attempt that was decided on what the record says now. */
  const record = async (id: DeliveryId, { now, verdict = { kind: 'delivered' }, ...more }: Attempt) => {
    const { delivery, destination } = await load(id);
    return await worker.deliveries.record({
      ...{ delivery, destination, verdict, now, gone: false, isProbe: false },
      attempt: { at: now, durationMs: ++attempts }, // no two are the same
      answered: verdict.kind === 'delivered',
      wasOwed: delivery.owedAttempts > 0,
      disableAfterMs: DISABLE_AFTER_MS,
      ...more,
    });
  };
  const settle = (id: DeliveryId, now: number, status: 'delivered' | 'failed') =>
    record(id, {
      ...{ now, answered: true },
      verdict: status === 'failed' ? { kind: 'failed', reason: 'schedule_exhausted' } : { kind: 'delivered' },
    });

  const stack = cleanUp.move();
  return {
    ...{ stores, keys, redis: stores.redis, worker, otherWorker, log, replays, queue },
    ...{ register, accept, acceptOne, load, record, settle },
    statusOf: async (id: DeliveryId) => (await stores.redis.hget(keys.delivery(id), 's')) ?? 'missing',
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
