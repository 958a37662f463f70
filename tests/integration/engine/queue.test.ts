import {
  callbackIdOf,
  deliveryIdOf,
  newTestTransitionId,
  type AttemptVerdict,
  type DeliveryStatus,
} from '@herald/core';
import { dropDeliveries, type DropFilter, type DropMode } from '@herald/store/bulk/drop-deliveries';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import type { DeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { endpointFields } from '@herald/store/endpoints/endpoint-record';
import { mastersOf } from '@herald/store/redis/connect-redis';
import { LEASE_MS } from '../../support/leases.ts';
import { buildReceiver, newWorkspaceId } from '../../support/start-stores.ts';
import { findFaults } from '../queue/read-queue.ts';
import { LIMIT, range, RETENTION_MS, startEngine, type Attempt, type Engine } from './start-engine.ts';

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
    group: receiver.group,
    /** Reserves, and tells which. */
    take: async (now: number, most = 1, by = engine.worker) =>
      (await by.reserve(now, most)).map(({ id }) => ids.indexOf(id)),
    record: (index: number, attempt: Attempt) => engine.record(ids[index] ?? '', attempt),
    redeliver: (index: number, now: number) => engine.log.redeliver(receiver.workspaceId, ids[index] ?? '', now),
    /** Replays what failed, or ended otherwise, in one step. */
    replay: async (now: number, status: DeliveryStatus = 'failed') => {
      const id = `rpl_${receiver.group}_${now}`;
      const created = { since: NOW - 1, until: now + 1, statuses: [status], createdAt: now };
      await engine.replays.create(receiver.workspaceId, { id, endpointId: receiver.id, ...created });
      expect(await engine.worker.steps.step(id, now)).toMatchObject({ kind: 'ended' });
    },
  };
}

const cancel: DeliveryStore['cancel'] = (...args) => engine.worker.deliveries.cancel(...args);

const drop = (filter: DropFilter, mode: DropMode, onProgress?: (looked: number, total: number) => void) => {
  const { redis, keyspace } = engine.stores;
  const retention = createDeliveryRetention(RETENTION_MS);
  return dropDeliveries(
    { redis, keyspace, retention, now: () => NOW, ...(onProgress && { onProgress }) },
    filter,
    mode,
  );
};

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
    expect(loaded).toEqual(await engine.worker.deliveries.load(id));
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
  expect(await engine.waitingFor(receiver.group)).toEqual(ids);
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
    const { delivery, group } = await engine.load(ids[0] ?? '');
    const lease = await engine.leases.of(delivery.id, NOW);
    await replay(NOW + 10);
    expect(await take(NOW + 20)).toEqual([]);
    const reply = await engine.worker.deliveries.record({
      delivery,
      group,
      lease,
      verdict: failed,
      now: NOW + 20,
      attempt: { at: NOW, durationMs: 99 },
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: true,
      groupLimit: LIMIT,
    });
    expect(reply).toMatchObject({ kind: 'recorded', status: 'pending', pendingRedeliveries: 0 });
    expect(await take(NOW + 20)).toEqual([0]);
    await expectSound();
  });

  test.each([
    ['waits again', []],
    ['is another worker’s by then', [0]],
  ])(
    'comes after its lease ended, and settles one that %s: it leaves that place, and a replay has one',
    async (_, taken: number[]) => {
      const { ids, take, replay } = await prepare(1);
      expect(await take(NOW)).toEqual([0]);
      const { delivery, group } = await engine.load(ids[0] ?? '');
      const lease = await engine.leases.of(delivery.id, NOW);
      await engine.otherWorker.recover(NOW + LEASE_MS);
      expect(await take(NOW + LEASE_MS, taken.length, engine.otherWorker)).toEqual(taken);
      const late = {
        delivery,
        group,
        lease,
        verdict: { kind: 'delivered' },
        now: NOW + LEASE_MS + 1,
        answered: true,
      } as const;
      await engine.worker.deliveries.record({
        ...late,
        ...{ attempt: { at: NOW, durationMs: 20_001, status: 200 }, gone: false, isProbe: false },
        ...{ isRedelivery: false, groupLimit: LIMIT },
      });
      expect(await engine.leases.isQueued(delivery.id)).toBe(false);
      await replay(NOW + LEASE_MS + 2);
      await expectSound();
    },
  );

  test.each<readonly [string, (id: string, lease: string, workspace: string) => Promise<unknown>]>([
    ['an operator canceled', (_id, _lease, workspace) => drop({ workspace }, 'cancel')],
    ['its worker canceled', (id, lease) => cancel(id, 'body_lost', NOW + 1, { lease, isProbe: false })],
    ['was canceled by who had no lease of it', (id) => cancel(id, 'body_lost', NOW + 1)],
  ])('is of one that %s meanwhile: a replay has one place by then, and it leaves that', async (_, end) => {
    const { receiver, ids, take, replay, group } = await prepare(1);
    const [id = ''] = ids;
    await take(NOW);
    const { delivery } = await engine.load(id);
    const lease = await engine.leases.of(id, NOW);
    await end(id, lease, receiver.workspaceId);
    expect([await engine.statusOf(id), await engine.leases.isQueued(id)]).toEqual(['canceled', false]);
    await replay(NOW + 2, 'canceled');
    expect(await engine.waitingFor(group)).toEqual([id]);
    await expectSound();
    await engine.worker.deliveries.record({
      ...{ delivery, group, lease, verdict: { kind: 'delivered' }, now: NOW + 3, answered: true, gone: false },
      ...{ attempt: { at: NOW, durationMs: 3, status: 200 }, isProbe: false, isRedelivery: false, groupLimit: LIMIT },
    });
    expect([await engine.statusOf(id), await engine.leases.isQueued(id)]).toEqual(['delivered', false]);
    await expectSound();
  });

  test('gives back the slot of its group, whatever the url is since', async () => {
    const { receiver, ids, take, record, group } = await prepare(2);
    expect(await take(NOW + 10_000, 2)).toEqual([0, 1]);
    const { workspaceId, id } = receiver;
    await engine.stores.receivers.patch(workspaceId, id, { url: 'https://moved.example.com/in' }, NOW + 10_000);
    await record(0, { now: NOW + 10_001 });
    await record(1, { now: NOW + 10_001, verdict: retryAt(NOW + 20_000), answered: true });
    expect(await engine.waitingFor(group)).toEqual([ids[1]]);
    await expectSound();
  });
});

describe('after a change of the url', () => {
  const URL_BEFORE = 'https://hooks.example.com/in';
  const OTHER_URL = 'https://second.example.com/in';

  test('what waits for a receiver stays where it stands, and goes although the former url had an open breaker and a pause', async () => {
    const { receiver, ids, record, take, group } = await prepare(7);
    const now = NOW + 10_000;
    const failed = { now, answered: false, verdict: retryAt(now + 3_600_000) } as const;
    for (const index of range(5)) await record(index, { ...failed, holdUntil: now + 60_000 });
    await engine.log.redeliver(receiver.workspaceId, ids[6] ?? '', now);
    const before = await engine.waitingFor(group);
    expect(await take(now + 1, 10)).toEqual([6]);
    const { workspaceId, id } = receiver;
    await engine.stores.receivers.patch(workspaceId, id, { url: OTHER_URL }, now + 1);
    expect(await engine.worker.purges.claim(now + 1, now + 60_000, 10)).toEqual({ due: 0, ids: [] });
    expect(await engine.waitingFor(group)).toEqual(before.slice(1));
    expect(await engine.redis.hmget(engine.keys.queue.group(group), 'open', 'hold', 'n')).toEqual([null, null, '1']);
    expect(await take(now + 1, 10)).toEqual([5]);
    await expectSound();
  });

  test('an attempt at the former one says nothing about the group', async () => {
    const { receiver, record, group } = await prepare(6);
    expect(await engine.worker.reserve(NOW + 10_000)).toHaveLength(6);
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { url: OTHER_URL }, NOW);
    for (const index of range(6)) {
      const verdict = retryAt(NOW + 60_000);
      await record(index, { now: NOW + 1, answered: false, verdict, holdUntil: NOW + 60_000, urlChangedAt: 1 });
    }
    const state = await engine.redis.hmget(engine.keys.queue.group(group), 'fails', 'hold', 'lim', 'n');
    expect(state).toEqual([null, null, null, '0']);
    await expectSound();
  });

  test('what waits for a callback moves to the group of its present origin, and ends when the callback is disabled', async () => {
    const callbacks = createCallbackStore(engine.stores);
    const workspaceId = newWorkspaceId();
    const task = await engine.createTask(workspaceId);
    const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: URL_BEFORE });
    await engine.redis.hset(engine.keys.endpoint(callback.id), ...endpointFields(callback, 'encrypted'));
    const find = async () => {
      const found = await callbacks.find(workspaceId, callback.id);
      if (!found) throw new Error('it was created just now');
      return found;
    };
    const before = await find();
    const [id = ''] = await task.accept([before], NOW);
    expect(await engine.waitingFor(before.origin)).toEqual([id]);
    await callbacks.patch(workspaceId, callback.id, { url: OTHER_URL }, NOW);
    const moved = (await find()).group;
    expect([await engine.waitingFor(before.group), await engine.waitingFor(moved)]).toEqual([[], [id]]);
    // The same origin.
    await callbacks.patch(workspaceId, callback.id, { url: `${OTHER_URL}/more` }, NOW);
    expect(await engine.waitingFor(moved)).toEqual([id]);
    await callbacks.patch(workspaceId, callback.id, { enabled: false }, NOW + 1);
    expect(await engine.worker.purges.claim(NOW + 1, NOW + 60_000, 10)).toEqual({ due: 1, ids: [callback.id] });
    const ended = [];
    for await (const step of engine.worker.purges.purge(callback.id, () => NOW + 1)) ended.push(...step);
    expect(ended).toEqual([{ id, event: 'task.check_in', reason: 'receiver_disabled' }]);
    expect(await engine.waitingFor(moved)).toEqual([]);
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

describe('a cancel by an operator', () => {
  test('looks at what waits and is in work, whatever has settled, and ends what is meant, in small steps', async () => {
    const { receiver, take, record } = await prepare(3);
    const other = await engine.register({ workspaceId: receiver.workspaceId });
    await take(NOW + 10_000, 3);
    for (const index of range(3)) await record(index, { now: NOW + 10_000 });
    for (const index of range(50)) await engine.acceptOne(other, NOW + index);
    const meant = [];
    for (const index of range(50)) meant.push(await engine.acceptOne(receiver, NOW + index));
    await engine.worker.reserve(NOW + 20_000, 10);
    const filter = { workspace: receiver.workspaceId, receiver: receiver.id, status: 'pending' } as const;
    const shown: number[][] = [];
    const show = (looked: number, total: number) => shown.push([looked, total]);
    expect(await drop({ ...filter, before: NOW + 20 }, 'count', show)).toEqual({
      deliveries: 20,
      pending: 20,
      left: 0,
    });
    expect(shown.at(-1)?.[0]).toBeLessThan(100);
    shown.length = 0;
    expect(await drop(filter, 'cancel', show)).toEqual({ deliveries: 50, pending: 50, left: 0 });
    expect(shown.length).toBeGreaterThan(2);
    for (const id of meant) expect(await engine.statusOf(id)).toBe('canceled');
    expect(await drop({ workspace: receiver.workspaceId, status: 'pending' }, 'count')).toMatchObject({
      deliveries: 50,
    });
    await expectSound();
  });

  test('comes to its end also while more comes all the time, and tells what is left', async () => {
    const { receiver } = await prepare(0);
    const { redis, keyspace } = engine.stores;
    const floods = Object.create(redis, {
      hget: {
        async value(...args: [string, string]) {
          await engine.acceptOne(receiver, NOW);
          return await redis.hget(...args);
        },
      },
    }) as typeof redis;
    const deps = { redis: floods, keyspace, retention: createDeliveryRetention(RETENTION_MS), now: () => NOW };
    const filter = { receiver: receiver.id, status: 'pending' } as const;
    const report = await dropDeliveries(deps, filter, 'cancel');
    expect(report).toEqual({ deliveries: 10, pending: 10, left: 1 });
    expect(await drop(filter, 'cancel')).toEqual({ deliveries: 1, pending: 1, left: 0 });
  });
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
    expect(await engine.waitingFor(receiver.group)).toEqual([]);
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

describe('while many others are in work', () => {
  const OTHERS = 2_000;

  /** Plants leases of others, and tells how often all leases are read meanwhile. */
  async function countReadings(work: () => Promise<unknown>): Promise<number> {
    const { redis, keys } = engine;
    const others = range(OTHERS).flatMap((index) => [NOW + LEASE_MS, `${NOW}|others|nonce|dlv_${index}`]);
    await redis.zadd(keys.queue.leases, ...others);
    const [master] = mastersOf(redis);
    const monitor = await master?.monitor();
    let readings = 0;
    monitor?.on('monitor', (_time: string, args: readonly string[]) => {
      const [command, key, ...range] = args;
      if (command?.toLowerCase() === 'zrange' && key === keys.queue.leases && range.join() === '0,-1') readings++;
    });
    await work();
    const last = `the last ${NOW}`;
    const hasCome = new Promise((resolve) => {
      monitor?.on('monitor', (_time: string, args: readonly string[]) => {
        if (args.includes(last)) resolve(true);
      });
    });
    await redis.echo(last);
    await hasCome;
    monitor?.disconnect();
    return readings;
  }

  test('a purge of what is in work reads none of their leases, and its slots are free once its worker has recorded it', async () => {
    const { receiver, ids, take, group } = await prepare(4);
    await take(NOW + 10_000, 3);
    const inWork = await Promise.all(ids.slice(0, 3).map((id) => engine.load(id)));
    const leases = await Promise.all(ids.slice(0, 3).map((id) => engine.leases.of(id, NOW, group)));
    expect(await countReadings(() => drop({ workspace: receiver.workspaceId }, 'purge'))).toBe(0);
    expect(await Promise.all(ids.map((id) => engine.statusOf(id)))).toEqual(ids.map(() => 'missing'));
    for (const [index, { delivery }] of inWork.entries()) {
      const reply = await engine.worker.deliveries.record({
        ...{ delivery, group, lease: leases[index] ?? '', verdict: { kind: 'delivered' }, now: NOW + 10_001 },
        ...{ attempt: { at: NOW, durationMs: 3, status: 200 }, answered: true, gone: false, isProbe: false },
        ...{ isRedelivery: false, groupLimit: LIMIT },
      });
      expect(reply.kind).toBe('missing');
    }
    expect(await engine.redis.hget(engine.keys.queue.group(group), 'n')).toBe('0');
    for (const id of ids) expect(await engine.leases.isQueued(id)).toBe(false);
  });

  test('the end of what waits, or of what has ended, reads none of their leases', async () => {
    const { receiver, ids, take, record } = await prepare(3);
    await take(NOW + 10_000, 2);
    await record(0, { now: NOW + 10_001 });
    const transitionId = newTestTransitionId();
    const test = { transitionId, deliveryId: deliveryIdOf(transitionId, receiver.id), endpointId: receiver.id };
    const { workspaceId } = receiver;
    await engine.stores.testEvents.create({ ...test, workspaceId, body: '{}', createdAt: NOW });
    const endAll = async () => {
      await cancel(ids[2] ?? '', 'body_lost', NOW + 10_002);
      await cancel(ids[0] ?? '', 'body_lost', NOW + 10_002);
      await cancel(test.deliveryId, 'not_sent_in_time', NOW + 10_002);
      await cancel(test.deliveryId, 'not_sent_in_time', NOW + 10_002);
    };
    expect(await countReadings(endAll)).toBe(0);
    expect(await Promise.all([...ids, test.deliveryId].map((id) => engine.statusOf(id)))).toEqual([
      ...['delivered', 'pending', 'canceled', 'canceled'],
    ]);
    expect(await engine.leases.isQueued(test.deliveryId)).toBe(false);
  });

  test('late records of what another worker has by then read them once for all that come together', async () => {
    const { ids, take } = await prepare(5);
    await take(NOW + 10_000, 5);
    const loaded = await Promise.all(ids.map((id) => engine.load(id)));
    const leases = await Promise.all(ids.map((id) => engine.leases.of(id, NOW)));
    const later = NOW + 10_000 + LEASE_MS;
    await engine.otherWorker.recover(later);
    expect(await take(later, 5, engine.otherWorker)).toHaveLength(5);
    const recordAll = () =>
      Promise.all(
        loaded.map(({ delivery, group }, index) =>
          engine.worker.deliveries.record({
            ...{ delivery, group, lease: leases[index] ?? '', verdict: { kind: 'delivered' }, now: later + 1 },
            ...{ attempt: { at: NOW, durationMs: 20_001 + index, status: 200 }, answered: true, gone: false },
            ...{ isProbe: false, isRedelivery: false, groupLimit: LIMIT },
          }),
        ),
      );
    expect(await countReadings(recordAll)).toBe(1);
    for (const id of ids) {
      expect([await engine.statusOf(id), await engine.leases.isQueued(id)]).toEqual(['delivered', false]);
    }
  });
});
