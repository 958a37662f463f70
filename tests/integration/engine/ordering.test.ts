import type { AttemptVerdict, DeliveryId } from '@herald/core';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { enqueuePending } from '@herald/store/data/enqueue-pending';
import { RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const TIMEOUT_MS = 3_600_000;
const USUAL = 1e13;
const URGENT = 0;

const register = (more: Partial<Receiver> = {}) =>
  engine.register({ ordering: 'task', orderingTimeoutMs: TIMEOUT_MS, ...more });

/** So many events of one Task, accepted for one ordered receiver. */
async function prepare(count: number, more: Partial<Receiver> = {}) {
  const receiver = await register(more);
  const task = await engine.createTask(receiver.workspaceId);
  const ids = await task.acceptMany(receiver, count, NOW);
  const [first = '', second = '', third = ''] = ids;
  const line = engine.keys.line(receiver.id, task.id);
  return {
    receiver,
    task,
    ids,
    first,
    second,
    third,
    findLine: () => engine.redis.zrange(line, '0', '-1'),
    scoreOf: async (id: DeliveryId, place = receiver.group) => {
      const score = await engine.redis.zscore(engine.keys.queue.waiting(place), id);
      return score === null ? undefined : Number(score);
    },
  };
}

const recordOf = (id: DeliveryId) => engine.redis.hgetall(engine.keys.delivery(id));
const dueOf = async (id: DeliveryId) => {
  const { due, at } = await recordOf(id);
  return Number(due ?? at);
};
const reserve = async (now: number) => (await engine.worker.reserve(now)).map(({ id }) => id);
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

/** What every view of a delivery says it waits for. */
async function findWaitingFor({ workspaceId }: Receiver, id: DeliveryId) {
  const { log, keys, redis } = engine;
  const found = await log.find(workspaceId, id);
  const { deliveries } = await log.listByWorkspace(workspaceId, {}, 100);
  const views = [
    found?.delivery.waitingFor,
    deliveries.find((each) => each.id === id)?.waitingFor,
    (await describeDelivery(redis, keys, id))?.waitingFor,
  ];
  expect(new Set(views).size).toBe(1);
  return views[0];
}

describe('accepting', () => {
  test('only the first event of a Task is due; the next waits until its timeout at most', async () => {
    const { ids, first, second, findLine, scoreOf } = await prepare(3);
    expect(await findLine()).toEqual(ids);
    expect([await dueOf(first), await scoreOf(first)]).toEqual([NOW, USUAL + NOW]);
    expect([await dueOf(second), await scoreOf(second)]).toEqual([NOW + TIMEOUT_MS, USUAL + NOW + TIMEOUT_MS]);
    expect(await reserve(NOW)).toEqual([first]);
  });

  test('neither another Task waits, nor another receiver', async () => {
    const { receiver, task, first } = await prepare(1);
    const other = await register({ workspaceId: receiver.workspaceId, url: 'https://other.example.com/' });
    const unordered = await engine.register({ workspaceId: receiver.workspaceId });
    const [second = '', third = '', fourth = ''] = await task.accept([receiver, other, unordered], NOW);
    const otherTask = await engine.createTask(receiver.workspaceId);
    const [fifth = ''] = await otherTask.accept([receiver], NOW);
    expect((await reserve(NOW)).sort()).toEqual([first, third, fourth, fifth].sort());
    expect(await dueOf(second)).toBe(NOW + TIMEOUT_MS);
  });

  test('what asks for no order has no line, and no field more', async () => {
    const receiver = await engine.register();
    const task = await engine.createTask(receiver.workspaceId);
    const ids = await task.acceptMany(receiver, 2, NOW);
    expect(await engine.redis.keys('*}:o:*')).toEqual([]);
    for (const id of ids) expect(Object.keys(await recordOf(id)).sort()).toEqual(['at', 'e', 's', 'x']);
    expect((await reserve(NOW)).sort()).toEqual([...ids].sort());
  });

  test('what a disabled receiver would have got stands in no line', async () => {
    const { receiver, task, first, findLine } = await prepare(1);
    const [canceled = ''] = await task.accept([{ ...receiver, enabled: false }], NOW);
    expect(await engine.statusOf(canceled)).toBe('canceled');
    expect(await findLine()).toEqual([first]);
  });

  test('a switch counts for what is accepted from then on: what waits keeps its place and its timeout', async () => {
    const { receiver, task, first, second, findLine } = await prepare(2);
    const { workspaceId, id } = receiver;
    const patch = async (change: object) => {
      await engine.stores.receivers.patch(workspaceId, id, change, NOW);
      return (await engine.stores.receivers.find(workspaceId, id)) ?? receiver;
    };
    const off = await patch({ ordering: 'none' });
    const [third = ''] = await task.accept([off], NOW);
    expect(await findLine()).toEqual([first, second]);
    expect((await reserve(NOW)).sort()).toEqual([first, third].sort());
    const on = await patch({ ordering: 'task', orderingTimeout: 60_000 });
    const [fourth = ''] = await task.accept([on], NOW);
    expect(await findLine()).toEqual([first, second, fourth]);
    expect([await dueOf(second), await dueOf(fourth)]).toEqual([NOW + TIMEOUT_MS, NOW + 60_000]);
  });
});

describe('the next one goes', () => {
  test.each(['delivered', 'failed'] as const)('when the one before is %s, and not before', async (status) => {
    const { first, second, ids, findLine, scoreOf } = await prepare(3);
    await engine.record(first, { now: NOW + 10, verdict: retryAt(NOW + 20), answered: true });
    expect(await reserve(NOW + 19)).toEqual([]);
    await engine.settle(first, NOW + 20, status);
    expect(await findLine()).toEqual(ids.slice(1));
    expect([await dueOf(second), await scoreOf(second)]).toEqual([NOW + 20, USUAL + NOW + 20]);
    expect(await reserve(NOW + 20)).toEqual([second]);
  });

  test.each(['canceled', 'failed'] as const)('when the one before is %s without an attempt', async (how) => {
    const { first, second } = await prepare(2);
    const { deliveries } = engine.worker;
    if (how === 'failed') await deliveries.giveUp(first, NOW + 1);
    else await deliveries.cancel(first, 'body_lost', NOW + 1);
    expect(await reserve(NOW + 1)).toContain(second);
  });

  test('when the one before has left as its Task was erased', async () => {
    const { receiver, task, first, second, findLine } = await prepare(2);
    await engine.redis.hset(engine.keys.task(task.id), 'status', 'done', 'cbOrd', '60000', 'input', '1');
    const retention = createDeliveryRetention(RETENTION_MS);
    const { redis, keyspace } = engine.stores;
    const reply = await createPayloadEraser({ redis, keyspace, retention }).erase(receiver.workspaceId, task.id, NOW);
    expect(reply).toMatchObject({ kind: 'erased', canceled: [{ count: 1 }, { count: 1 }] });
    expect([await engine.statusOf(first), await engine.statusOf(second)]).toEqual(['canceled', 'canceled']);
    expect(await findLine()).toEqual([]);
    expect(await engine.redis.hmget(engine.keys.task(task.id), 'cbOrd', 'input')).toEqual(['60000', null]);
  });

  test('also over those that were lost, or settled by a process that knows no lines', async () => {
    const { first, second, third, findLine } = await prepare(4);
    await engine.redis.del(engine.keys.delivery(second));
    await engine.redis.hset(engine.keys.delivery(third), 's', 'delivered');
    await engine.settle(first, NOW + 1, 'delivered');
    const [fourth = ''] = await findLine();
    expect(await dueOf(fourth)).toBe(NOW + 1);
  });

  test('when another event of the Task is accepted, if such a process has settled the one before', async () => {
    const { receiver, task, first, second } = await prepare(2);
    await engine.redis.hset(engine.keys.delivery(first), 's', 'delivered');
    await task.accept([receiver], NOW + 5);
    expect(await dueOf(second)).toBe(NOW + 5);
  });

  test('not twice: a record that is sent again changes nothing', async () => {
    const { first, second, scoreOf } = await prepare(2);
    const lease = await engine.leases.of(first, NOW);
    const attempt = { at: NOW, durationMs: 1 };
    for (const now of [NOW + 1, NOW + 2]) await engine.record(first, { now, lease, attempt });
    expect(await scoreOf(second)).toBe(USUAL + NOW + 1);
  });

  test('at once when it is in work itself: then only its record changes', async () => {
    const { first, second, scoreOf } = await prepare(2);
    const lease = await engine.leases.of(second, NOW);
    await engine.settle(first, NOW + 1, 'delivered');
    expect([await dueOf(second), await scoreOf(second)]).toEqual([NOW + 1, undefined]);
    expect(await engine.leases.find(second)).toBe(lease);
  });

  test('also when the queue was lost and is made anew from the records', async () => {
    const { first, second, scoreOf } = await prepare(3);
    await engine.settle(first, NOW + 1, 'delivered');
    await engine.redis.del(...(await engine.redis.keys('*}:q:*')));
    const { redis, keyspace } = engine.stores;
    expect(await enqueuePending({ redis, keyspace, now: () => NOW })).toBe(2);
    expect(await scoreOf(second)).toBe(USUAL + NOW + 1);
    expect(await reserve(NOW + 1)).toEqual([second]);
  });
});

describe('a crash', () => {
  test('of the worker that sends the first one lets no other go', async () => {
    const { first } = await prepare(3);
    expect(await reserve(NOW)).toEqual([first]);
    await engine.otherWorker.recover(NOW + 60_000);
    expect(await reserve(NOW + 60_000)).toEqual([first]);
  });
});

describe('a delivery that is released', () => {
  test('goes when its timeout ends, says so from then on, and blocks those behind it as before', async () => {
    const { receiver, first, second, third, findLine } = await prepare(3);
    await engine.record(first, { now: NOW, verdict: retryAt(NOW + 10 * TIMEOUT_MS), answered: true });
    expect(await reserve(NOW + TIMEOUT_MS - 1)).toEqual([]);
    const jobs = await engine.worker.reserve(NOW + TIMEOUT_MS);
    expect(jobs.map(({ id }) => id).sort()).toEqual([second, third].sort());
    expect(jobs.map(({ loaded }) => loaded)).toMatchObject(jobs.map(() => ({ delivery: { isReleased: true } })));
    const at = NOW + TIMEOUT_MS;
    await engine.record(second, { now: at, verdict: retryAt(at + 5), answered: true });
    await engine.settle(third, at, 'delivered');
    expect(await findLine()).toEqual([first, second]);
    await engine.settle(first, at + 1, 'delivered');
    for (const id of [second, third]) expect((await engine.load(id)).delivery.isReleased).toBe(true);
    expect(await dueOf(second)).toBe(at + 5);
    const found = await engine.log.find(receiver.workspaceId, third);
    expect(found?.delivery.isReleased).toBe(true);
    expect((await engine.load(first)).delivery).not.toHaveProperty('isReleased');
  });

  test('waits for nothing any more, while those behind it wait for the first', async () => {
    const { receiver, first, second, third } = await prepare(3);
    expect([await findWaitingFor(receiver, first), await findWaitingFor(receiver, third)]).toEqual([undefined, first]);
    await engine.record(second, { now: NOW, verdict: retryAt(NOW + 5), answered: true });
    expect([await findWaitingFor(receiver, second), await findWaitingFor(receiver, third)]).toEqual([undefined, first]);
    await engine.settle(first, NOW, 'delivered');
    expect(await findWaitingFor(receiver, third)).toBe(second);
  });

  test('by somebody who asks for it goes at once, once, and then waits for its turn', async () => {
    const { receiver, first, second } = await prepare(2);
    await engine.log.redeliver(receiver.workspaceId, second, NOW + 1);
    expect(await findWaitingFor(receiver, second)).toBeUndefined();
    await engine.record(first, { now: NOW, verdict: retryAt(NOW + TIMEOUT_MS), answered: true });
    const [job] = await engine.worker.reserve(NOW + 1);
    expect(job).toMatchObject({ id: second, loaded: { delivery: { isReleased: true, owedAttempts: 1 } } });
    await engine.record(second, { now: NOW + 2, verdict: retryAt(NOW + 5_000), answered: true });
    await engine.settle(first, NOW + 3, 'delivered');
    expect(await recordOf(second)).toMatchObject({ due: String(NOW + 3), rel: '1' });
    expect(await recordOf(second)).not.toHaveProperty('n');
  });
});

test('one that comes to its turn while a redelivery of it is pending stays urgent, and is due', async () => {
  const { receiver, first, second, scoreOf } = await prepare(2);
  await engine.log.redeliver(receiver.workspaceId, second, NOW + 1);
  await engine.settle(first, NOW + 2, 'delivered');
  expect([await dueOf(second), await scoreOf(second)]).toEqual([NOW + 2, URGENT + NOW + 1]);
  expect((await engine.load(second)).delivery).not.toHaveProperty('isReleased');
});

test('a redelivery of a settled one goes at once, stands in no line and delays nobody', async () => {
  const { receiver, task, first, second, findLine } = await prepare(2);
  await engine.settle(first, NOW, 'delivered');
  await engine.log.redeliver(receiver.workspaceId, first, NOW + 1);
  expect(await findLine()).toEqual([second]);
  expect((await reserve(NOW + 1)).sort()).toEqual([first, second].sort());
  expect((await engine.load(first)).delivery).not.toHaveProperty('isReleased');
  await engine.record(first, { now: NOW + 2, verdict: retryAt(NOW + 9), answered: true });
  await engine.settle(second, NOW + 2, 'delivered');
  const [third = ''] = await task.accept([receiver], NOW + 3);
  expect(await reserve(NOW + 3)).toEqual([third]);
});

describe('disabling the receiver', () => {
  const purge = async (id: string, most = Infinity) => {
    let count = 0;
    for await (const ended of engine.worker.purges.purge(id, () => NOW)) {
      count += ended.length;
      if (count >= most) break;
    }
    return count;
  };

  test('ends all that wait in its lines', async () => {
    const { receiver, ids, findLine } = await prepare(5);
    await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
    expect(await purge(receiver.id)).toBe(5);
    expect(new Set(await Promise.all(ids.map(engine.statusOf)))).toEqual(new Set(['canceled']));
    expect(await findLine()).toEqual([]);
    expect(await engine.waitingFor(receiver.group)).toEqual([]);
  });

  test('and enabling it in the midst of that lets the next one go', async () => {
    const { receiver, task, ids, findLine } = await prepare(500);
    const [last = ''] = await task.accept([receiver], NOW + 1);
    const { workspaceId, id } = receiver;
    await engine.stores.receivers.patch(workspaceId, id, { enabled: false }, NOW);
    expect(await purge(id, 500)).toBe(500);
    expect(await findLine()).toEqual([last]);
    expect(ids).not.toContain(last);
    await engine.stores.receivers.patch(workspaceId, id, { enabled: true }, NOW);
    expect(await reserve(NOW)).toEqual([last]);
  });
});

test('a list costs no read more for what asks for no order', async () => {
  const receiver = await engine.register();
  const task = await engine.createTask(receiver.workspaceId);
  await task.acceptMany(receiver, 20, NOW);
  const { second } = engine.stores;
  await second.redis.config('RESETSTAT');
  await engine.log.listByEndpoint(receiver.workspaceId, receiver.id, {}, 20);
  const stats = await second.redis.info('commandstats');
  const calls = [...stats.matchAll(/cmdstat_(zrange|hgetall|hmget|lindex):calls=(\d+)/g)];
  expect(Object.fromEntries(calls.map(([, name, count]) => [name, Number(count)]))).toEqual({
    ...{ zrange: 2, hgetall: 20, hmget: 20, lindex: 20 },
  });
});

test('memory of a Task whose events were all sent is gone', async () => {
  const { ids } = await prepare(20);
  for (const [index, id] of ids.entries()) {
    expect(await reserve(NOW + index)).toEqual([id]);
    await engine.settle(id, NOW + index, 'delivered');
  }
  expect(await engine.redis.keys('*}:o:*')).toEqual([]);
});
