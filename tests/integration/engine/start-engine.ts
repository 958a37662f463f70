import {
  deliveryIdOf,
  newTestTransitionId,
  type AttemptVerdict,
  type DeliveryId,
  type Endpoint,
  type NoticeDraft,
  type WorkspaceId,
} from '@herald/core';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import { createDeliveryQueueScripts } from '@herald/store/deliveries/delivery-scripts';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createMoveStore } from '@herald/store/bulk/move-store';
import { createPurgeStore } from '@herald/store/bulk/purge-store';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { createReplayStore } from '@herald/store/bulk/replay-store';
import { defineScript } from '@herald/store/redis/script';
import { newRevision } from '@herald/store/redis/random-token';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import {
  createFinishScript,
  createPutBackScript,
  createRecoverScript,
} from '../../../packages/queue/src/worker/leases.ts';
import { createReserve, type Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { LEASE_MS } from '../../support/leases.ts';
import { createTaskOf } from '../../support/create-task-of.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores } from '../../support/start-stores.ts';

export const RETENTION_MS = 7 * 86_400_000;
const DISABLE_AFTER_MS = 5 * 86_400_000;
/** Deliveries of one destination that may be in work. */
export const LIMIT = 10;

export type Engine = Awaited<ReturnType<typeof startEngine>>;
export type Receiver = Endpoint & { readonly group: string; readonly origin: string };

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
  notice?: NoticeDraft;
  /** Default: one without an answer. */
  attempt?: AttemptRecord;
  /** Default: that of the endpoint now. */
  urlChangedAt?: number;
  /** Default: that under which it is in work, or would be. */
  lease?: string;
}

let reserves = 0;

/**
 * All that the engine keeps in Redis, as two workers and an API have it, and no process.
 * @param hasHistory settled deliveries wait for one
 */
export async function startEngine({ hasHistory = false } = {}) {
  const retention = createDeliveryRetention(RETENTION_MS, hasHistory);
  await using cleanUp = new AsyncDisposableStack();
  let acceptedAt = Date.now();
  const stores = cleanUp.use(await startStores(1, () => acceptedAt, retention));
  const { keys, keyspace, leases } = stores;
  const { queue } = keys;
  const { loadLua, readRows } = createDeliveryQueueScripts();
  const createWorker = (redis: RedisClient) => {
    const define = (_name: string, lua: string) => defineScript(redis, lua);
    const reserve = createReserve(define, queue, loadLua, readRows);
    const putBack = define('testPutBack', createPutBackScript(loadLua));
    const finish = define('testFinish', createFinishScript(loadLua));
    const recover = define('testRecover', createRecoverScript(loadLua));
    return {
      deliveries: createDeliveryStore({ redis, keys, retention }),
      steps: createReplaySteps({ redis, keys, keepMs: RETENTION_MS }),
      purges: createPurgeStore({ redis, keys, retention }),
      moves: createMoveStore({ redis, keys, now: Date.now }),
      async reserve(now: number, most = 10): Promise<readonly Reserved[]> {
        const reply = await reserve({
          now,
          leaseEndsAt: now + LEASE_MS,
          nonce: `r${reserves++}`,
          groupLimit: LIMIT,
          rooms: [most, most, most, most],
          suspects: [],
          withoutRoom: [],
          isCautious: false,
        });
        return reply.kind === 'paused' ? [] : reply.jobs;
      },
      putBack: ({ handle, isProbe }: Pick<Reserved, 'handle' | 'isProbe'>, now: number, dueAt = 0) =>
        putBack([queue.leases], [keys.prefix, now, LIMIT, handle, dueAt, isProbe ? 1 : 0]),
      finish: ({ handle, isProbe }: Reserved, now: number) =>
        finish([queue.leases], [keys.prefix, now, LIMIT, handle, isProbe ? 1 : 0]),
      recover: (now: number) => recover([queue.leases], [keys.prefix, now, LIMIT, 100]),
    };
  };
  const worker = createWorker(stores.redis);
  const otherWorker = createWorker(stores.second.redis);
  const log = createDeliveryLog({ redis: stores.redis, keyspace });
  const replays = createReplayStore({ redis: stores.redis, keyspace, keepMs: RETENTION_MS });

  const register = async (more: Partial<Endpoint> = {}): Promise<Receiver> => {
    const receiver = buildReceiver(more.workspaceId ?? newWorkspaceId(), more);
    await stores.receivers.register(receiver, 'encrypted');
    const found = await stores.receivers.find(receiver.workspaceId, receiver.id);
    if (!found) throw new Error('it was registered just now');
    return found;
  };

  /** One transition to these receivers of one workspace; returns the ids of its deliveries, in their order. */
  const accept = async (receivers: readonly Receiver[], now: number): Promise<DeliveryId[]> => {
    const workspaceId = receivers[0]?.workspaceId ?? '';
    acceptedAt = now;
    const task = buildTask(workspaceId, { createdAt: now });
    await stores.tasks.create(task);
    const { version } = await stores.receivers.findSubscriptions(workspaceId);
    const transitionId = newTestTransitionId();
    const reply = await stores.transitions.commit({
      task,
      newRevision: newRevision(),
      subscriptionVersion: version,
      now,
      change: { status: 'done', sequence: 1 },
      factKey: 'done',
      emission: {
        transitionId,
        event: 'task.done',
        body: '{"a":1}',
        targets: receivers.map(({ id, enabled }) => ({ endpointId: id, enabled })),
      },
    });
    if (reply.kind !== 'accepted') throw new Error('nothing changed meanwhile');
    return receivers.map(({ id }) => deliveryIdOf(transitionId, id));
  };
  const acceptOne = async (receiver: Receiver, now: number): Promise<DeliveryId> => {
    const [id] = await accept([receiver], now);
    if (id === undefined) throw new Error('one receiver, one delivery');
    return id;
  };

  /** A Task of which one event after the other is accepted. */
  const createTask = (workspaceId: WorkspaceId) =>
    createTaskOf(stores, workspaceId, (at) => {
      acceptedAt = at;
    });

  const load = async (id: DeliveryId) => {
    const loaded = await worker.deliveries.load(id);
    if (loaded.kind !== 'loaded') throw new Error(`${id} is ${loaded.kind}`);
    return { ...loaded, group: loaded.endpoint?.group ?? loaded.delivery.endpointId };
  };

  let attempts = 0;
  let answer: string | undefined;
  /** Records one attempt that was decided on what the record says now. */
  const record = async (id: DeliveryId, { now, verdict = { kind: 'delivered' }, ...more }: Attempt) => {
    const { delivery, group, endpoint } = await load(id);
    const { urlChangedAt } = endpoint ?? {};
    return await worker.deliveries.record({
      delivery,
      group,
      verdict,
      now,
      gone: false,
      isProbe: false,
      groupLimit: LIMIT,
      // No two are the same.
      attempt: { at: now, durationMs: ++attempts, ...(answer !== undefined && { answer }) },
      answered: verdict.kind === 'delivered',
      isRedelivery: delivery.owedAttempts > 0,
      disableAfterMs: DISABLE_AFTER_MS,
      ...(urlChangedAt !== undefined && { urlChangedAt }),
      lease: await leases.of(id, now, group),
      ...more,
    });
  };
  const settle = (id: DeliveryId, now: number, status: 'delivered' | 'failed') =>
    record(id, {
      now,
      answered: true,
      verdict: status === 'failed' ? { kind: 'failed', reason: 'schedule_exhausted' } : { kind: 'delivered' },
    });

  const stack = cleanUp.move();
  return {
    stores,
    keys,
    redis: stores.redis,
    leases,
    worker,
    otherWorker,
    log,
    replays,
    register,
    accept,
    acceptOne,
    createTask,
    load,
    record,
    settle,
    /** Attempts get this answer from now on, unless one is given. */
    answerWith: (text: string) => {
      answer = text;
    },
    statusOf: async (id: DeliveryId) => (await stores.redis.hget(keys.delivery(id), 's')) ?? 'missing',
    /** Ids of a group's waiting deliveries, as they stand. */
    waitingFor: (group: string) => stores.redis.zrange(queue.waiting(group), '0', '-1'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
