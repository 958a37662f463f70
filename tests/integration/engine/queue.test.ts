import { callbackIdOf, type AttemptVerdict } from '@herald/core';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { LEASE_MS } from '../../support/leases.ts';
import { buildReceiver, buildTask, newWorkspaceId } from '../../support/start-stores.ts';
import { findFaults } from '../queue/read-queue.ts';
import { LIMIT, range, startEngine, type Attempt, type Engine } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

/** A receiver with pending deliveries, accepted a second apart, the first at NOW. */
async function prepare(count: number) {
  const receiver = await engine.register();
  const ids: string[] = [];
  for (const index of range(count)) ids.push(await engine.acceptOne(receiver, NOW + index * 1_000));
  return {
    receiver,
    ids,
    destination: receiver.destination,
    /** Reserves, and tells which. */
    take: async (now: number, most = 1, by = engine.worker) =>
      (await by.reserve(now, most)).map(({ id }) => ids.indexOf(id)),
    record: (index: number, attempt: Attempt) => engine.record(ids[index] ?? '', attempt),
    redeliver: (index: number, now: number) => engine.log.redeliver(receiver.workspaceId, ids[index] ?? '', now),
    /** Replays what failed, in one step. */
    replay: async (now: number) => {
      const id = `rpl_${receiver.destination}_${now}`;
      const created = { since: NOW - 1, until: now + 1, statuses: ['failed'] as const, createdAt: now };
      await engine.replays.create(receiver.workspaceId, { id, endpointId: receiver.id, ...created });
      expect(await engine.worker.steps.step(id, now)).toMatchObject({ kind: 'ended' });
    },
  };
}

async function expectSound(): Promise<void> {
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
}

test('a redelivery goes first, then what is live in its order, then what is replayed in its', async () => {
  const { ids, take, record, replay, redeliver } = await prepare(5);
  for (const index of [0, 1])
    await record(index, { now: NOW, verdict: { kind: 'failed', reason: 'schedule_exhausted' }, answered: true });
  const later = NOW + 100_000;
  await replay(later);
  await redeliver(4, later);
  const replayed = [0, 1].sort((a, b) => ((ids[a] ?? '') < (ids[b] ?? '') ? -1 : 1));
  const order: number[] = [];
  for (const index of range(5)) {
    const [next] = await take(later + 5_000);
    order.push(next ?? -1);
    await record(next ?? 0, { now: later + 5_000 + index });
  }
  expect(order).toEqual([4, 2, 3, ...replayed]);
  expect(await take(later + 5_000)).toEqual([]);
  await expectSound();
});

test('several are reserved at once: in their order, with what their attempts need', async () => {
  const { ids } = await prepare(3);
  const jobs = await engine.worker.reserve(NOW + 10_000);
  expect(jobs.map(({ id }) => id)).toEqual(ids);
  for (const { id, loaded } of jobs) {
    expect(loaded).toEqual(await engine.load(id));
    expect(loaded).toMatchObject({ kind: 'loaded', delivery: { id } });
  }
});

test('one that can’t be read comes without, and keeps no other from being reserved', async () => {
  const { ids } = await prepare(2);
  await engine.redis.del(engine.keys.delivery(ids[0] ?? ''));
  await engine.redis.set(engine.keys.delivery(ids[0] ?? ''), 'of another type');
  const jobs = await engine.worker.reserve(NOW + 10_000);
  expect(jobs.map(({ id, loaded }) => [id, loaded !== undefined])).toEqual([
    [ids[0], false],
    [ids[1], true],
  ]);
});

test('of many transitions that are accepted together each delivery is in the queue, in their order', async () => {
  const { receiver, ids } = await prepare(0);
  for (const index of range(30)) ids.push(...(await engine.accept([receiver], NOW + index)));
  expect(await engine.waitingFor(receiver.destination)).toEqual(ids);
  await expectSound();
});

test('two workers that reserve at once never get the same', async () => {
  const { ids } = await prepare(10);
  const replies = await Promise.all(
    range(20).map((index) => (index % 2 ? engine.worker : engine.otherWorker).reserve(NOW + 20_000, 1)),
  );
  const taken = replies.flat().map(({ id }) => id);
  expect(taken.sort()).toEqual([...ids].sort());
});

describe('an attempt that is recorded', () => {
  test('ends the lease, and leaves a delivery that has ended nowhere', async () => {
    const { ids, take, record } = await prepare(2);
    await take(NOW + 10_000, 2);
    await record(0, { now: NOW + 10_001 });
    await record(1, { now: NOW + 10_001, verdict: { kind: 'failed', reason: 'schedule_exhausted' } });
    for (const id of ids) expect(await engine.leases.isQueued(id)).toBe(false);
    await expectSound();
  });

  test('lets one that is to be tried again wait until then, behind nothing that is due', async () => {
    const { take, record } = await prepare(1);
    await take(NOW);
    await record(0, { now: NOW, verdict: retryAt(NOW + 5_000), answered: true });
    expect(await take(NOW + 4_999)).toEqual([]);
    expect(await take(NOW + 5_000)).toEqual([0]);
    await expectSound();
  });

  test('lets one wait again, for all its tries, that was replayed meanwhile', async () => {
    const { ids, take, record, redeliver, replay } = await prepare(1);
    const failed: AttemptVerdict = { kind: 'failed', reason: 'schedule_exhausted' };
    await record(0, { now: NOW, verdict: failed, answered: true });
    await redeliver(0, NOW);
    expect(await take(NOW)).toEqual([0]);
    const { delivery, destination } = await engine.load(ids[0] ?? '');
    const lease = await engine.leases.of(delivery.id, NOW);
    await replay(NOW + 10);
    expect(await take(NOW + 20)).toEqual([]);
    const reply = await engine.worker.deliveries.record({
      delivery,
      destination,
      lease,
      verdict: failed,
      now: NOW + 20,
      attempt: { at: NOW, durationMs: 99 },
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: true,
      destinationLimit: LIMIT,
    });
    expect(reply).toMatchObject({ kind: 'superseded', status: 'pending', pendingRedeliveries: 0 });
    expect(await take(NOW + 20)).toEqual([0]);
    await expectSound();
  });

  test('gives back the slot of the group under whose lease it was made, whatever the url says since', async () => {
    const { receiver, ids, take, record, destination } = await prepare(2);
    expect(await take(NOW + 10_000, 2)).toEqual([0, 1]);
    const { workspaceId, id } = receiver;
    await engine.stores.receivers.patch(workspaceId, id, { url: 'https://moved.example.com/in' }, NOW + 10_000);
    await record(0, { now: NOW + 10_001 });
    await record(1, { now: NOW + 10_001, verdict: retryAt(NOW + 20_000), answered: true });
    const moved = await engine.stores.receivers.find(workspaceId, id);
    expect(await engine.waitingFor(destination)).toEqual([]);
    expect(await engine.waitingFor(moved?.destination ?? '')).toEqual([ids[1]]);
    await expectSound();
  });
});

describe('what waits for a former url', () => {
  test('moves to the group of the present one, where it stood', async () => {
    const { receiver, ids, destination } = await prepare(3);
    const { workspaceId, id } = receiver;
    await engine.log.redeliver(workspaceId, ids[2] ?? '', NOW);
    const url = 'https://second.example.com/in';
    await engine.stores.receivers.patch(workspaceId, id, { url }, NOW);
    expect(await engine.worker.purges.claim(NOW, NOW + 60_000, 10)).toEqual([id]);
    for await (const ended of engine.worker.purges.purge(id, NOW)) expect(ended).toEqual([]);
    const moved = await engine.stores.receivers.find(workspaceId, id);
    expect(await engine.waitingFor(destination)).toEqual([]);
    expect(await engine.waitingFor(moved?.destination ?? '')).toEqual([ids[2], ids[0], ids[1]]);
    await expectSound();
  });

  test('moves also to that of a callback, and ends as canceled when the callback is disabled', async () => {
    const callbacks = createCallbackStore(engine.stores);
    const workspaceId = newWorkspaceId();
    const task = buildTask(workspaceId);
    const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id) });
    await engine.stores.tasks.create({ ...task, callback }, { endpoint: callback, encryptedSecret: 'encrypted' });
    const find = async () => {
      const found = await callbacks.find(workspaceId, callback.id);
      if (!found) throw new Error('it was created just now');
      return found;
    };
    const purge = async (now: number) => {
      expect(await engine.worker.purges.claim(now, now + 60_000, 10)).toEqual([callback.id]);
      const ended = [];
      for await (const step of engine.worker.purges.purge(callback.id, now)) ended.push(...step);
      return ended;
    };
    const before = await find();
    const id = await engine.acceptOne(before, NOW);
    await callbacks.patch(workspaceId, callback.id, { url: 'https://second.example.com/in' }, NOW);
    expect(await purge(NOW)).toEqual([]);
    const moved = (await find()).destination;
    expect([await engine.waitingFor(before.destination), await engine.waitingFor(moved)]).toEqual([[], [id]]);
    await callbacks.patch(workspaceId, callback.id, { enabled: false }, NOW + 1);
    expect(await purge(NOW + 60_001)).toEqual([{ id, event: 'task.done', reason: 'receiver_disabled' }]);
    expect(await engine.waitingFor(moved)).toEqual([]);
    await expectSound();
  });

  test('goes to the present one also before it has moved, and doesn’t keep a breaker from being probed', async () => {
    const { receiver, ids, record, take, destination } = await prepare(7);
    for (const index of range(5)) await record(index, { now: NOW, answered: false, verdict: retryAt(NOW + 3_600_000) });
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { url: 'https://well.example.com/in' }, NOW);
    const due = NOW + 10_000;
    const [probe, ...others] = await engine.worker.reserve(due);
    expect([probe?.id, probe?.isProbe, others]).toEqual([ids[5], true, []]);
    expect(probe?.loaded).toMatchObject({ endpoint: { url: 'https://well.example.com/in' } });
    await record(5, { now: due, isProbe: true });
    expect(await take(due)).toEqual([6]);
    expect((await engine.redis.hgetall(engine.keys.queue.group(destination))).open).toBe('1');
    await expectSound();
  });
});

test('what is reserved is nobody else’s until its lease ends; then it comes again', async () => {
  const { take } = await prepare(1);
  expect(await take(NOW)).toEqual([0]);
  const { otherWorker } = engine;
  await otherWorker.recover(NOW + LEASE_MS - 1);
  expect(await take(NOW + LEASE_MS - 1, 1, otherWorker)).toEqual([]);
  await otherWorker.recover(NOW + LEASE_MS);
  expect(await take(NOW + LEASE_MS, 1, otherWorker)).toEqual([0]);
});

test('what a stopping worker puts back is there for the others at once', async () => {
  const { take } = await prepare(1);
  for (const job of await engine.worker.reserve(NOW)) await engine.worker.putBack(job, NOW);
  expect(await take(NOW, 1, engine.otherWorker)).toEqual([0]);
});

describe('a redelivery', () => {
  test('is brought forward where it waits', async () => {
    const { take, redeliver } = await prepare(2);
    await redeliver(1, NOW + 2_000);
    expect(await take(NOW + 2_000)).toEqual([1]);
  });

  test('doesn’t take away what is in work: it would be sent twice', async () => {
    const { take, redeliver } = await prepare(1);
    expect(await take(NOW)).toEqual([0]);
    await redeliver(0, NOW + 1_000);
    expect(await take(NOW + 1_000, 1, engine.otherWorker)).toEqual([]);
  });

  test('goes through a hold and through an open breaker, as its probe', async () => {
    const { take, record, redeliver } = await prepare(8);
    for (const index of range(5)) await record(index, { now: NOW, answered: false, verdict: retryAt(NOW + 1_000) });
    await record(5, { now: NOW, answered: false, verdict: retryAt(NOW), holdUntil: NOW + 60_000 });
    expect(await take(NOW + 7_000)).toEqual([]);
    await redeliver(7, NOW + 7_000);
    const jobs = await engine.worker.reserve(NOW + 7_000);
    expect(jobs).toMatchObject([{ isProbe: true }]);
    // Its lease is the breaker's, and no other probe goes out beside it.
    expect(await take(NOW + 7_000)).toEqual([]);
  });
});

describe('what a replay sets pending', () => {
  const FAILED: AttemptVerdict = { kind: 'failed', reason: 'schedule_exhausted' };
  const LATER = NOW + 100_000;

  test('is there for workers at once, behind what is live', async () => {
    const { receiver, ids, record, replay } = await prepare(2);
    for (const index of [0, 1]) await record(index, { now: NOW, verdict: FAILED, answered: true });
    await replay(LATER);
    const live = await engine.acceptOne(receiver, LATER + 1);
    const jobs = await engine.worker.reserve(LATER + 1);
    expect(jobs.map(({ id }) => id)).toEqual([live, ...[...ids].sort()]);
    await expectSound();
  });

  test('is left to its worker where that has it: it is not sent beside that', async () => {
    const { receiver, ids, take, record, replay, redeliver } = await prepare(1);
    await record(0, { now: NOW, verdict: FAILED, answered: true });
    await redeliver(0, LATER);
    expect(await take(LATER)).toEqual([0]);
    await replay(LATER);
    expect(await engine.waitingFor(receiver.destination)).toEqual([]);
    expect(await engine.statusOf(ids[0] ?? '')).toBe('pending');
    await record(0, { now: LATER });
    expect(await engine.statusOf(ids[0] ?? '')).toBe('delivered');
    expect(await engine.leases.isQueued(ids[0] ?? '')).toBe(false);
    await expectSound();
  });

  test('keeps the place that it has as a redelivery', async () => {
    const { take, record, replay, redeliver } = await prepare(2);
    for (const index of [0, 1]) await record(index, { now: NOW, verdict: FAILED, answered: true });
    await redeliver(1, LATER);
    await replay(LATER);
    expect(await take(LATER, 10)).toEqual([1, 0]);
    await expectSound();
  });
});
