import type { DeliveryId, DeliveryStatus } from '@herald/core';
import { dropDeliveries, type DropFilter, type DropMode } from '@herald/store/bulk/drop-deliveries';
import { createDeliveryRetention, type LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { LEASE_MS } from '../../support/leases.ts';
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
  for (const id of await engine.worker.purges.claim(now, now + 60_000, 10))
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
    ask: async (id, { workspaceId }) => {
      const { taskId = '' } = (await engine.load(id)).delivery;
      await engine.redis.hset(engine.keys.task(taskId), 'status', 'done');
      const eraser = createPayloadEraser({ ...engine.stores, retention });
      expect(await eraser.erase(workspaceId, taskId, ASKED_AT)).toMatchObject({ kind: 'erased' });
    },
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
