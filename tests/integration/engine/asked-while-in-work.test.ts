import { callbackIdOf, type DeliveryId, type DeliveryStatus, type WorkspaceId } from '@herald/core';
import { dropDeliveries, type DropFilter, type DropMode } from '@herald/store/bulk/drop-deliveries';
import { createDeliveryRetention, type LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { endpointFields } from '@herald/store/endpoints/endpoint-record';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { LEASE_MS } from '../../support/leases.ts';
import { buildReceiver, newWorkspaceId } from '../../support/start-stores.ts';
import { findFaults } from '../queue/read-queue.ts';
import { LIMIT, RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
beforeEach(async () => {
  await engine.redis.flushdb();
});
afterAll(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const HOUR_MS = 3_600_000;
const ASKED_AT = NOW + 10;

/** A delivery in work. */
type InWork = { readonly job: Reserved; readonly loaded: LoadedDelivery };

const findJob = (jobs: readonly Reserved[], id: DeliveryId): InWork => {
  const job = jobs.find((each) => each.id === id);
  if (!job) throw new Error('it is due');
  return { job, loaded: job.loaded as LoadedDelivery };
};

/** Its worker records that the attempt failed, and when the next one is due. */
const recordFailure = async ({ job, loaded: { delivery, endpoint } }: InWork, now: number) =>
  await engine.worker.deliveries.record({
    ...{ delivery, group: endpoint?.group ?? '', now, verdict: { kind: 'retry', at: now + 1_000 }, answered: true },
    ...{ attempt: { at: now, durationMs: 1, status: 500 }, gone: false, isProbe: job.isProbe, lease: job.handle },
    ...{ isRedelivery: delivery.owedAttempts > 0, groupLimit: LIMIT, disableAfterMs: 432_000_000 },
    ...(endpoint?.urlChangedAt !== undefined && { urlChangedAt: endpoint.urlChangedAt }),
  });

const recover = async () => {
  const now = NOW + LEASE_MS + 1_000;
  await engine.otherWorker.recover(now);
  return now;
};

/** How the work on a delivery ends, and when. */
const ENDS: Readonly<Record<string, (inWork: InWork) => Promise<number>>> = {
  'its failure is recorded': async (inWork) => {
    await recordFailure(inWork, NOW + 20);
    return NOW + 20;
  },
  'its worker stops': async ({ job }) => {
    await engine.worker.putBack(job, NOW + 20);
    return NOW + 20;
  },
  'its worker has a fault': async ({ job }) => {
    await engine.worker.putBack(job, NOW + 20, NOW + 500);
    return NOW + 500;
  },
  'its worker finds nothing to do': async ({ job }) => {
    await engine.worker.finish(job, NOW + 20);
    return NOW + 20;
  },
  'its worker dies': recover,
  'its failure is recorded after its lease has ended': async (inWork) => {
    const now = await recover();
    await recordFailure(inWork, now);
    return now;
  },
};

const retention = createDeliveryRetention(RETENTION_MS);
const drop = (filter: DropFilter, mode: DropMode) =>
  dropDeliveries({ ...engine.stores, retention, now: () => ASKED_AT }, filter, mode);

const purgeAll = async (now: number) => {
  for (const id of (await engine.worker.purges.claim(now, now + 60_000, 10)).ids)
    for await (const ended of engine.worker.purges.purge(id, () => now)) expect(ended).toBeDefined();
};

/** When a delivery is reserved next. */
async function goes(id: DeliveryId, from: number): Promise<'at once' | 'after the pause' | 'never'> {
  const isReserved = async (now: number) => (await engine.worker.reserve(now)).some((job) => job.id === id);
  if (await isReserved(from + 2_000)) return 'at once';
  return (await isReserved(NOW + 2 * HOUR_MS)) ? 'after the pause' : 'never';
}

async function expectSound(): Promise<void> {
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
}

async function eraseTaskOf(id: DeliveryId, workspaceId: WorkspaceId): Promise<void> {
  const { taskId = '' } = (await engine.load(id)).delivery;
  await engine.redis.hset(engine.keys.task(taskId), 'status', 'done');
  const eraser = createPayloadEraser({ ...engine.stores, retention });
  expect(await eraser.erase(workspaceId, taskId, ASKED_AT)).toMatchObject({ kind: 'erased' });
}

type Asked = {
  readonly what: string;
  readonly ask: (id: DeliveryId, receiver: Receiver) => Promise<unknown>;
  readonly goes: 'at once' | 'after the pause' | 'never';
  readonly status?: string;
};

const startReplay = async (receiver: Receiver, statuses: readonly DeliveryStatus[], now: number) => {
  const replay = { id: 'rpl_1', endpointId: receiver.id, since: 0, until: now + 1, statuses, createdAt: now };
  await engine.replays.create(receiver.workspaceId, replay);
  await engine.worker.steps.step(replay.id, now);
};

const patch = (receiver: Receiver, change: object) =>
  engine.stores.receivers.patch(receiver.workspaceId, receiver.id, change, ASKED_AT);

const ASKED: readonly Asked[] = [
  { what: 'nothing', ask: () => Promise.resolve(), goes: 'after the pause' },
  {
    what: 'a redelivery',
    ask: (id, { workspaceId }) => engine.log.redeliver(workspaceId, id, ASKED_AT),
    goes: 'at once',
  },
  {
    what: 'a replay, of which it is the first,',
    ask: (_, receiver) => startReplay(receiver, ['pending'], ASKED_AT),
    goes: 'at once',
  },
  { what: 'a rate', ask: (_, receiver) => patch(receiver, { rateLimit: { perSecond: 1 } }), goes: 'after the pause' },
  { what: 'order', ask: (_, receiver) => patch(receiver, { ordering: 'task' }), goes: 'after the pause' },
  {
    what: 'another secret',
    ask: (_, { workspaceId, id }) =>
      engine.stores.receivers.rotateSecret(workspaceId, id, 'other', ASKED_AT + 60_000, ASKED_AT),
    goes: 'after the pause',
  },
  {
    what: 'another url',
    ask: (_, receiver) => patch(receiver, { url: 'https://other.example.com/in' }),
    goes: 'at once',
  },
  {
    what: 'a stop by the platform',
    ask: (_, { workspaceId, id }) => engine.stores.receivers.pause(workspaceId, id, 'why', ASKED_AT),
    goes: 'never',
  },
  {
    what: 'the erasure of its Task',
    ask: (id, { workspaceId }) => eraseTaskOf(id, workspaceId),
    goes: 'never',
    status: 'canceled',
  },
  {
    what: 'its end, by an operator,',
    ask: (_, { workspaceId }) => drop({ workspace: workspaceId }, 'cancel'),
    goes: 'never',
    status: 'canceled',
  },
  {
    what: 'its deletion, by an operator,',
    ask: (_, { workspaceId }) => drop({ workspace: workspaceId }, 'purge'),
    goes: 'never',
    status: 'missing',
  },
];

describe.each(Object.entries(ENDS))('what is asked for while a delivery is in work, if %s', (_, end) => {
  test.each(ASKED)('$what holds: it goes $goes', async ({ ask, goes: expected, status = 'pending' }) => {
    const receiver = await engine.register();
    const task = await engine.createTask(receiver.workspaceId);
    const [id = ''] = await task.accept([receiver], NOW);
    const [other = ''] = await task.accept([receiver], NOW + 1);
    const jobs = await engine.worker.reserve(NOW + 1);
    const inWork = findJob(jobs, id);
    const held = { now: NOW + 2, answered: true, holdUntil: NOW + HOUR_MS, lease: findJob(jobs, other).job.handle };
    await engine.record(other, { ...held, verdict: { kind: 'retry', at: NOW + HOUR_MS } });
    await ask(id, receiver);
    const endedAt = await end(inWork);
    await purgeAll(endedAt);
    await expectSound();
    expect([await engine.statusOf(id), await goes(id, endedAt)]).toEqual([status, expected]);
    await expectSound();
  });
});

describe('an attempt that a replay owes', () => {
  const classOf = async (id: DeliveryId, group: string) =>
    Math.floor(Number(await engine.redis.zscore(engine.keys.queue.waiting(group), id)) / 1e13);

  test.each<{ of: 'delivered' | 'failed'; asked: boolean; is: number }>([
    { of: 'delivered', asked: false, is: 2 },
    { of: 'delivered', asked: true, is: 0 },
    { of: 'failed', asked: false, is: 2 },
    { of: 'failed', asked: true, is: 0 },
  ])(
    'of one that was $of waits in the class $is again, if one was asked for beside it: $asked',
    async ({ of, asked, is }) => {
      const receiver = await engine.register();
      const { workspaceId, group } = receiver;
      const id = await engine.acceptOne(receiver, NOW);
      await engine.settle(id, NOW, of);
      await startReplay(receiver, [of], NOW + 1);
      const { job, loaded } = findJob(await engine.worker.reserve(NOW + 1), id);
      if (asked) await engine.log.redeliver(workspaceId, id, NOW + 2);
      await ENDS['its worker stops']?.({ job, loaded });
      expect(await classOf(id, group)).toBe(is);
      await expectSound();
    },
  );
});

describe('a delivery that is in work while its callback moves to another origin', () => {
  const urlOf = (host: string) => `https://${host}.example.com/in`;

  /** A delivery of a Task to its callback, with the next one in order if that is in work, too. */
  async function moveWhileInWork(hasNext = false) {
    const callbacks = createCallbackStore(engine.stores);
    const workspaceId = newWorkspaceId();
    const task = await engine.createTask(workspaceId);
    const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: urlOf('former'), ordering: 'task' });
    await engine.redis.hset(engine.keys.endpoint(callback.id), ...endpointFields(callback, 'encrypted'));
    const find = async () => {
      const found = await callbacks.find(workspaceId, callback.id);
      if (!found) throw new Error('it was created just now');
      return found;
    };
    const former = await find();
    const [id = ''] = await task.accept([former], NOW);
    const inWork = findJob(await engine.worker.reserve(NOW), id);
    const [next = ''] = hasNext ? await task.accept([former], NOW) : [];
    const nextLease = hasNext ? await engine.leases.of(next, NOW, former.group) : '';
    await callbacks.patch(workspaceId, callback.id, { url: urlOf('second') }, ASKED_AT);
    return {
      ...{ callbacks, workspaceId, callback, id, inWork, next, nextLease, former: former.group, find },
      isNowhere: async () => !(await engine.leases.isQueued(id)),
    };
  }
  type Moved = Awaited<ReturnType<typeof moveWhileInWork>>;

  test.each(Object.entries(ENDS))('waits with the others of the new origin if %s', async (_, end) => {
    const { id, inWork, former, find } = await moveWhileInWork();
    await end(inWork);
    expect([await engine.waitingFor(former), await engine.waitingFor((await find()).group)]).toEqual([[], [id]]);
    await expectSound();
  });

  test.each<{ what: string; ask: (moved: Moved) => Promise<unknown>; holds: (moved: Moved) => Promise<boolean> }>([
    {
      what: 'a redelivery',
      ask: ({ workspaceId, id }) => engine.log.redeliver(workspaceId, id, NOW + 30),
      holds: async ({ id, find }) =>
        (await engine.redis.zscore(engine.keys.queue.waiting((await find()).group), id)) === String(NOW + 30),
    },
    {
      what: 'its end',
      ask: ({ id }) => engine.worker.deliveries.cancel(id, 'body_lost', NOW + 30),
      holds: ({ isNowhere }) => isNowhere(),
    },
    {
      what: 'its end and a redelivery',
      ask: async ({ workspaceId, id }) => {
        await engine.worker.deliveries.cancel(id, 'body_lost', NOW + 30);
        await engine.log.redeliver(workspaceId, id, NOW + 30);
      },
      holds: async ({ id }) => (await engine.worker.reserve(NOW + 60)).filter((job) => job.id === id).length === 1,
    },
    {
      what: 'the end of its callback',
      ask: async ({ callbacks, workspaceId, callback }) => {
        await callbacks.patch(workspaceId, callback.id, { enabled: false }, NOW + 30);
        await purgeAll(NOW + 30);
      },
      holds: async ({ id, isNowhere }) => (await isNowhere()) && (await engine.statusOf(id)) === 'canceled',
    },
    {
      what: 'the erasure of its Task',
      ask: ({ id, workspaceId }) => eraseTaskOf(id, workspaceId),
      holds: ({ isNowhere }) => isNowhere(),
    },
    {
      what: 'its end, by an operator,',
      ask: ({ workspaceId }) => drop({ workspace: workspaceId }, 'cancel'),
      holds: ({ isNowhere }) => isNowhere(),
    },
    {
      what: 'its deletion, by an operator,',
      ask: ({ workspaceId }) => drop({ workspace: workspaceId }, 'purge'),
      holds: ({ isNowhere }) => isNowhere(),
    },
    {
      what: 'a third url',
      ask: ({ callbacks, workspaceId, callback }) =>
        callbacks.patch(workspaceId, callback.id, { url: urlOf('third') }, NOW + 30),
      holds: async ({ id, find }) => (await engine.waitingFor((await find()).group)).includes(id),
    },
  ])('and comes back is found by $what', async ({ ask, holds }) => {
    const moved = await moveWhileInWork();
    await ENDS['its worker stops']?.(moved.inWork);
    await ask(moved);
    expect(await holds(moved)).toBe(true);
    await expectSound();
  });

  test('and comes back goes when the one before it has ended', async () => {
    const { id, inWork, next, nextLease, find } = await moveWhileInWork(true);
    await engine.worker.putBack({ handle: nextLease, isProbe: false }, NOW + 30);
    await engine.record(id, { now: NOW + 40, lease: inWork.job.handle });
    const { group } = await find();
    expect(await engine.redis.zscore(engine.keys.queue.waiting(group), next)).toBe(String(1e13 + NOW + 40));
    await expectSound();
  });
});
