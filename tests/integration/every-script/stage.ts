import {
  callbackIdOf,
  draftNotice,
  transitionIdOfFact,
  type AttemptVerdict,
  type DeliveryId,
  type Endpoint,
  type Task,
} from '@herald/core';
import type { RecordedAttempt } from '@herald/store/deliveries/delivery-store';
import { newRevision } from '@herald/store/redis/random-token';
import { LIMIT, startEngine, type Engine, type Receiver } from '../engine/start-engine.ts';
import { LEASE_MS } from '../../support/leases.ts';
import { buildReceiver, buildTask, newWorkspaceId } from '../../support/start-stores.ts';
import { createProcessStores, DAY_MS, type ProcessStores } from './process-stores.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';

export type Stage = ReturnType<typeof createStage>;
/** It doesn't fit into the record of a delivery. */
const LONG_ANSWER = 'x'.repeat(65);
type Held = Parameters<ProcessStores['leases']['finish']>[0];

/** A Redis on which scenes are arranged one after the other. */
export async function startStage(hasHistory: boolean) {
  const engine = await startEngine({ hasHistory });
  engine.answerWith(LONG_ANSWER);
  return { ...createStage(engine, hasHistory, Date.now()), [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
}

/** What scenes need of a Redis to arrange themselves at a time, through the methods of the stores. */
export function createStage(engine: Engine, hasHistory: boolean, now: number) {
  const { redis, keys, stores } = engine;
  const options = { hasHistory, now: () => now };
  const first = createProcessStores({ redis, ...options });

  /** A workspace with a plain, an ordered and a limited receiver, to all of which a Task told two things, one in work. */
  const fill = async () => {
    const workspaceId = newWorkspaceId();
    const register = (host: string, more: Partial<Endpoint> = {}) =>
      engine.register({ workspaceId, url: `https://${host}.example.com/in`, createdAt: now, ...more });
    const plain = await register('plain');
    const ordered = await register('ordered', { ordering: 'task' });
    const limited = await register('limited', { rateLimit: { perSecond: 1 } });
    const all: readonly Receiver[] = [plain, ordered, limited];
    const task = await engine.createTask(workspaceId);
    const early = await task.accept(all, now - 2_000);
    const late = await task.accept(all, now - 1_000);
    await engine.leases.of(late[0] ?? '', now, plain.group);
    return { workspaceId, plain, ordered, limited, all, taskId: task.id, ids: early, late, inWork: late[0] ?? '' };
  };

  /** A Task with a callback, which came to its status by a report. */
  const createTask = async (workspaceId: string, status: Task['status'] = 'running') => {
    const created = buildTask(workspaceId, { createdAt: now, input: { text: 'content' } });
    const callback = buildReceiver(workspaceId, { id: callbackIdOf(created.id), url: 'https://told.example.com/in' });
    const headers = { names: ['x-token'], encrypted: 'k1.headers' };
    const task = { ...created, callback };
    await stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'k1.encrypted', headers });
    if (status !== 'running') await commit(first, created, [], { status, sequence: 1 }, 'action:1');
    const found = await stores.tasks.find(workspaceId, created.id);
    if (!found) throw new Error('it was created just now');
    return { task: found, callback: { ...callback, group: (await findGroup(workspaceId, callback.id)) ?? '' } };
  };
  const findGroup = async (workspaceId: string, id: string) => (await first.callbacks.find(workspaceId, id))?.group;

  /** Commits a fact of a Task as it was read, and tells these endpoints of it. */
  const commit = async (
    process: Pick<ProcessStores, 'transitions'>,
    task: Task,
    targets: readonly (Endpoint & { readonly group: string })[],
    change: Readonly<{ status: Task['status']; sequence: number }>,
    factKey: string,
  ) => {
    const transitionId = transitionIdOfFact(task.id, factKey) ?? '';
    const { version } = await first.receivers.findSubscriptions(task.workspaceId);
    return await process.transitions.commit({
      task,
      newRevision: newRevision(),
      subscriptionVersion: version,
      now,
      change,
      factKey,
      ...(targets.length > 0 && {
        emission: {
          transitionId,
          event: 'task.done',
          body: '{"a":1}',
          targets: targets.map(({ id, group, enabled, ordering }) => ({
            endpointId: id,
            group,
            enabled,
            ...(ordering === 'task' && { orderingTimeoutMs: DAY_MS }),
          })),
        },
      }),
    });
  };

  /** Takes what is due into work. */
  const reserve = async (leaseEndsAt = now + LEASE_MS): Promise<readonly Reserved[]> =>
    (await first.reserve({ ...reserveRequest(now + 1_000, 'stage'), leaseEndsAt })).jobs;
  const reserveRequest = (at: number, nonce: string, suspects: readonly string[] = []) => ({
    now: at,
    leaseEndsAt: at + LEASE_MS,
    nonce,
    groupLimit: LIMIT,
    rooms: [10, 10, 10, 10],
    suspects,
    withoutRoom: [],
    isCautious: false,
  });

  /** What a worker records of an attempt at a delivery. */
  const attemptAt = async (id: DeliveryId, status: number, verdict: AttemptVerdict): Promise<RecordedAttempt> => {
    const { delivery, group, endpoint } = await engine.load(id);
    const attempt = { at: now, durationMs: 7, status, answer: status === 200 ? '' : LONG_ANSWER };
    return {
      delivery,
      group,
      verdict,
      now,
      gone: status === 410,
      isProbe: false,
      groupLimit: LIMIT,
      attempt,
      answered: true,
      isRedelivery: delivery.owedAttempts > 0,
      disableAfterMs: 5 * DAY_MS,
      lease: await engine.leases.of(id, now, group),
      ...(endpoint && { notice: draftNotice(delivery, endpoint, { at: now, status }, now) }),
    };
  };

  return {
    engine,
    redis,
    keys,
    now,
    first,
    /** As another process has them, on a connection of its own. */
    second: createProcessStores({ redis: stores.second.redis, ...options }),
    options,
    fill,
    createTask,
    commit,
    reserve,
    reserveRequest,
    attemptAt,
    toHeld: (reserved: Reserved): Held => ({
      reserved,
      slot: { group: reserved.group, ring: reserved.ring, tenant: reserved.tenant, startedAt: 0 },
      leaseEndsAt: now + LEASE_MS,
    }),
  };
}
