import { mastersOf } from '@herald/store/redis/connect-redis';
import {
  callbackIdOf,
  type Delivery,
  DELIVERY_STATUSES,
  deliveryIdOf,
  originOf,
  type Endpoint,
  factKeyOf,
  type ListPlace,
  type Task,
  transitionIdOfFact,
  type TransitionReport,
} from '@herald/core';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryLog, type DeliveryLog } from '@herald/store/lists/delivery-log';
import type { WorkspaceFilter } from '@herald/store/lists/delivery-reader';
import { newRevision } from '@herald/store/redis/random-token';
import { REMOVED_LIMIT } from '../../packages/store/src/endpoints/receiver-store.ts';
import { expectTtl } from '../support/expect-ttl.ts';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

const NOW = 1_900_000_000_000;
const DAY_MS = 86_400_000;

let stores: Stores;
let log: DeliveryLog;
beforeAll(async () => {
  stores = await startStores();
  log = createDeliveryLog({ redis: stores.redis, keyspace: stores.keyspace });
});
afterAll(() => stores[Symbol.asyncDispose]());

async function register(workspaceId: string): Promise<Endpoint> {
  const receiver = buildReceiver(workspaceId);
  await stores.receivers.register(receiver, 'encrypted');
  return receiver;
}

async function createTask(workspaceId: string, withCallback = false): Promise<Task> {
  const task = buildTask(workspaceId, { createdAt: NOW });
  const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id) });
  await stores.tasks.create(task, withCallback ? { endpoint, encryptedSecret: 'encrypted' } : undefined);
  return task;
}

const checkpoint = (checkpointId: string): TransitionReport => ({
  type: 'checkpoint',
  checkpointId,
  canonical: true,
  material: true,
  outcome: { summary: '' },
});

/** Reports one fact of a Task to these endpoints; returns the ids of its deliveries, in their order. */
async function emit(task: Task, endpointIds: readonly string[], now: number, fact = 'c1', sequence = 1) {
  const { workspaceId } = task;
  const key = factKeyOf(checkpoint(fact));
  const transitionId = transitionIdOfFact(task.id, key) ?? '';
  const { version } = await stores.receivers.findSubscriptions(workspaceId);
  const current = (await stores.transitions.findTask(workspaceId, task.id, [], []))?.task;
  const destination = originOf(workspaceId, 'https://hooks.example.com/');
  const reply = await stores.transitions.commit({
    task: current ?? task,
    newRevision: newRevision(),
    subscriptionVersion: version,
    now,
    change: { sequence },
    factKey: key,
    emission: {
      transitionId,
      event: 'task.check_in',
      body: '{"a":1}',
      targets: endpointIds.map((endpointId) => ({ endpointId, destination, enabled: true })),
    },
  });
  expect(reply.kind).toBe('accepted');
  return endpointIds.map((endpointId) => deliveryIdOf(transitionId, endpointId));
}

/** All pages of a list. */
async function walk(workspaceId: string, filter: WorkspaceFilter, limit: number) {
  const pages: (readonly Delivery[])[] = [];
  let after: ListPlace | undefined;
  do {
    const page = await log.listByWorkspace(workspaceId, filter, limit, after);
    pages.push(page.deliveries);
    after = page.next;
  } while (after);
  return pages;
}
const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id);

test('the logs of all receivers and callbacks are walked as one, newest first, and none is missed or shown twice', async () => {
  const workspaceId = newWorkspaceId();
  const receivers = [await register(workspaceId), await register(workspaceId), await register(workspaceId)];
  const stranger = newWorkspaceId();
  await emit(await createTask(stranger), [(await register(stranger)).id], NOW);
  const accepted: { id: string; at: number }[] = [];
  for (let index = 0; index < 20; index++) {
    const task = await createTask(workspaceId, true);
    // Some transitions share a millisecond, as those of a batch do.
    const at = NOW + Math.floor(index / 4);
    const endpoints = [...receivers.slice(index % 3).map(({ id }) => id), callbackIdOf(task.id)];
    for (const id of await emit(task, endpoints, at)) accepted.push({ id, at });
  }
  const newestFirst = accepted.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  for (const limit of [1, 7, 1_000]) {
    const pages = await walk(workspaceId, {}, limit);
    expect(idsOf(pages.flat())).toEqual(idsOf(newestFirst));
    expect(pages.every(({ length }) => length <= limit)).toBe(true);
  }
  const [from, to] = [NOW + 1, NOW + 3];
  const within = newestFirst.filter(({ at }) => at >= from && at < to);
  expect(idsOf((await walk(workspaceId, { since: from, until: to }, 3)).flat())).toEqual(idsOf(within));
});

test('a receiver that was removed keeps its place in the list, of very many the last ones do', async () => {
  const workspaceId = newWorkspaceId();
  const removed: string[] = [];
  for (let index = 0; index < REMOVED_LIMIT + 3; index++) {
    const receiver = await register(workspaceId);
    removed.push(...(await emit(await createTask(workspaceId), [receiver.id], NOW + index)));
    await stores.receivers.remove(workspaceId, receiver.id, NOW + index);
  }
  expect(idsOf((await walk(workspaceId, {}, 100)).flat())).toEqual(removed.slice(3).reverse());
  const unused = await register(workspaceId);
  await stores.receivers.remove(workspaceId, unused.id, NOW + 1_000);
  const key = stores.keys.removedReceivers(workspaceId);
  expect(await stores.redis.zscore(key, unused.id)).toBeNull();
  await expectTtl(stores.redis, key, createDeliveryRetention(7 * 86_400_000).logMs);
});

test('a list shows the last attempt of each delivery, in words that are stored or not', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = await register(workspaceId);
  const task = await createTask(workspaceId);
  const [id = ''] = await emit(task, [receiver.id], NOW);
  const list = async () => (await log.listByWorkspace(workspaceId, {}, 10)).deliveries;
  expect((await list())[0]).not.toHaveProperty('lastAttempt');
  // As this release writes it in the record.
  await stores.redis.hset(stores.keys.delivery(id), 'a', '-4 2 404');
  const first = { at: NOW - 4, durationMs: 2, status: 404 };
  expect((await list())[0]?.lastAttempt).toEqual(first);
  expect((await log.listByTask(workspaceId, task.id, 10))?.deliveries[0]?.lastAttempt).toEqual(first);
  // As release 0.1.0 and this one write them in a list.
  await stores.redis.rpush(stores.keys.attempts(id), '{"at":1,"durationMs":2,"status":500}');
  expect((await list())[0]?.lastAttempt).toEqual({ at: 1, durationMs: 2, status: 500 });
  await stores.redis.rpush(stores.keys.attempts(id), '{"at":3,"durationMs":4,"status":200,"h":{"s":"nginx"}}');
  expect((await list())[0]?.lastAttempt).toEqual({ at: 3, durationMs: 4, status: 200, headers: { server: 'nginx' } });
  const ofReceiver = await log.listByEndpoint(workspaceId, receiver.id, {}, 10);
  expect(ofReceiver.deliveries[0]?.lastAttempt?.at).toBe(3);
});

describe('the deliveries of one Task', () => {
  test('come in the order of its transitions, in pages of any size, and by endpoint', async () => {
    const workspaceId = newWorkspaceId();
    const [first, second] = [await register(workspaceId), await register(workspaceId)];
    const task = await createTask(workspaceId, true);
    const endpoints = [first.id, second.id, callbackIdOf(task.id)];
    const expected: string[] = [];
    for (let sequence = 1; sequence <= 5; sequence++) {
      // The clocks of two processes differ a little.
      const ids = await emit(task, endpoints, NOW - sequence, `c${sequence}`, sequence);
      expected.unshift(...ids.sort().reverse());
    }
    await emit(await createTask(workspaceId), [first.id], NOW);
    for (const limit of [1, 4, 100]) {
      const pages = await walk(workspaceId, { task: task.id }, limit);
      expect(idsOf(pages.flat())).toEqual(expected);
    }
    const toSecond = (await walk(workspaceId, { task: task.id, receiver: second.id }, 2)).flat();
    expect(toSecond.map(({ endpointId }) => endpointId)).toEqual(Array.from({ length: 5 }, () => second.id));
    const late = (await walk(workspaceId, { task: task.id, since: NOW - 2 }, 100)).flat();
    expect(late).toHaveLength(6);
  });

  test('are nobody else’s, and neither are those of a receiver or a callback', async () => {
    const [owner, stranger] = [newWorkspaceId(), newWorkspaceId()];
    const receiver = await register(owner);
    const task = await createTask(owner, true);
    await emit(task, [receiver.id, callbackIdOf(task.id)], NOW);
    for (const filter of [{ task: task.id }, { receiver: receiver.id }, { receiver: callbackIdOf(task.id) }]) {
      expect((await walk(owner, filter, 10)).flat().length).toBeGreaterThan(0);
      // Not even a cursor that would tell of an id.
      expect(await log.listByWorkspace(stranger, { ...filter, status: 'failed' }, 10)).toEqual({
        deliveries: [],
        lookedAt: 0,
      });
    }
  });
});

/** How often Redis, all of its masters, has run a command. */
async function countCalls(command: string): Promise<number> {
  const stats = await Promise.all(mastersOf(stores.redis).map((master) => master.info('commandstats')));
  const calls = stats.map((text) => Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(text)?.[1] ?? 0));
  return calls.reduce((sum, count) => sum + count, 0);
}

test('a page of a Task costs what it shows, and a tenth of the facts among which it was found', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = await register(workspaceId);
  const task = await createTask(workspaceId);
  const ids: string[] = [];
  for (let fact = 1; fact <= 25; fact++) ids.push(...(await emit(task, [receiver.id], NOW + fact, `c${fact}`, fact)));
  const first = await log.listByTask(workspaceId, task.id, 1);
  expect(first).toMatchObject({ lookedAt: 3, next: { at: 25 } });
  const last = await log.listByTask(workspaceId, task.id, 24, first?.next);
  expect(last).toMatchObject({ lookedAt: 26 });
  expect(last).not.toHaveProperty('next');
  expect([...(first?.deliveries ?? []), ...(last?.deliveries ?? [])].map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await log.listByWorkspace(workspaceId, { task: task.id }, 5)).lookedAt).toBe(7);
  const hungUp = AbortSignal.abort(new Error('hung up'));
  await expect(log.listByTask(workspaceId, task.id, 10, undefined, hungUp)).rejects.toThrow('hung up');
});

test('a page looks at a bounded number of records, however many there are, and the next one goes on behind them', async () => {
  const workspaceId = newWorkspaceId();
  const receivers = [await register(workspaceId), await register(workspaceId)];
  const [oldest = ''] = await emit(await createTask(workspaceId), [receivers[0]?.id ?? ''], NOW);
  for (const { id } of receivers) {
    const entries = Array.from({ length: 3_000 }, (_, index) => [NOW + 1 + index, `dlv_${id}_${index}`]).flat();
    await stores.redis.zadd(stores.keys.endpointLog(id), ...entries);
  }
  const before = await countCalls('hgetall');
  const first = await log.listByWorkspace(workspaceId, { event: 'task.check_in' }, 50);
  expect(first).toEqual({
    deliveries: [],
    lookedAt: 2_050,
    next: expect.objectContaining({ at: expect.any(Number) as number }) as object,
  });
  expect((await countCalls('hgetall')) - before).toBeLessThanOrEqual(2_050);
  const pages = await walk(workspaceId, { event: 'task.check_in' }, 50);
  expect(pages.length).toBeGreaterThanOrEqual(3);
  expect(idsOf(pages.flat())).toEqual([oldest]);
});

/** Settles a delivery as a worker does, which has it in work. */
async function settle(id: string, kind: 'delivered' | 'failed', now: number) {
  const loaded = await stores.deliveries.load(id);
  if (loaded.kind !== 'loaded') throw new Error('it is there');
  const { delivery } = loaded;
  const group = delivery.endpointId;
  await stores.deliveries.record({
    delivery,
    group,
    verdict: kind === 'failed' ? { kind, reason: 'schedule_exhausted' } : { kind },
    now,
    gone: false,
    isProbe: false,
    groupLimit: 10,
    attempt: { at: now, durationMs: 1, status: kind === 'failed' ? 500 : 200 },
    answered: true,
    isRedelivery: delivery.owedAttempts > 0,
    disableAfterMs: DAY_MS,
    lease: await stores.leases.of(id, now, group),
  });
}

test('a list of a status looks at what it shows, and at little else, whatever became of the others', async () => {
  const workspaceId = newWorkspaceId();
  const [receiver, disabled] = [await register(workspaceId), await register(workspaceId)];
  const ids: string[] = [];
  for (let index = 0; index < 20; index++) {
    const task = await createTask(workspaceId, true);
    ids.push(...(await emit(task, [receiver.id, disabled.id, callbackIdOf(task.id)], NOW + Math.floor(index / 2))));
  }
  const [toReceiver, toDisabled, toCallback] = [0, 1, 2].map((place) => ids.filter((_, index) => index % 3 === place));
  // Nearly all are delivered. Of each kind of endpoint some failed, of which some were sent again.
  const failed = [...(toReceiver?.slice(10, 14) ?? []), ...(toCallback?.slice(12, 16) ?? [])];
  for (const id of [...(toReceiver ?? []), ...(toCallback ?? [])].slice(0, -3)) {
    await settle(id, failed.includes(id) ? 'failed' : 'delivered', NOW + 100);
  }
  const recovered = failed.filter((_, index) => index % 2 === 0);
  for (const id of recovered) {
    expect(await log.redeliver(workspaceId, id, NOW + 200)).toMatchObject({ kind: 'pending' });
    await settle(id, 'delivered', NOW + 300);
  }
  await stores.deliveries.cancel(toDisabled?.[7] ?? '', 'receiver_disabled', NOW + 400);

  const all = (await walk(workspaceId, {}, 1_000)).flat();
  expect(all).toHaveLength(60);
  const lookedAt: Record<string, number> = { failed: 0, canceled: 0, pending: 0, delivered: 0 };
  for (const status of DELIVERY_STATUSES) {
    for (const filter of [{ status }, { status, receiver: receiver.id }, { status, receiver: disabled.id }]) {
      const wanted = all.filter(
        (each) => each.status === status && (filter.receiver === undefined || each.endpointId === filter.receiver),
      );
      for (const limit of [1, 100]) {
        expect(idsOf((await walk(workspaceId, filter, limit)).flat())).toEqual(idsOf(wanted));
      }
      const since = { ...filter, since: NOW + 2, until: NOW + 9 };
      const within = wanted.filter(({ createdAt }) => createdAt >= since.since && createdAt < since.until);
      expect(idsOf((await walk(workspaceId, since, 2)).flat())).toEqual(idsOf(within));
      if (filter.receiver === receiver.id) {
        lookedAt[status] = (await log.listByEndpoint(workspaceId, receiver.id, { status }, 100)).lookedAt;
      }
    }
  }
  expect(lookedAt).toEqual({ failed: 2, canceled: 0, pending: 0, delivered: 20 });
  // What is in work waits nowhere, and is pending all the same.
  const inWork = toDisabled?.[12] ?? '';
  await stores.leases.of(inWork, NOW, disabled.id);
  const pending = (await walk(workspaceId, { status: 'pending', receiver: disabled.id }, 100)).flat();
  expect(pending).toHaveLength(19);
  expect(idsOf(pending)).toContain(inWork);
});

test('where a thousand deliveries and more wait, the pending ones are found by the log', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = await register(workspaceId);
  const [id = ''] = await emit(await createTask(workspaceId), [receiver.id], NOW);
  const jobs = Array.from({ length: 1_001 }, (_, index) => [NOW + index, `dlv_none_${index}`]).flat();
  await stores.redis.zadd(stores.keys.queue.waiting(receiver.id), ...jobs);
  const page = await log.listByEndpoint(workspaceId, receiver.id, { status: 'pending' }, 10);
  expect(idsOf(page.deliveries)).toEqual([id]);
  expect(page.lookedAt).toBe(1);
});

test('without a filter a page reads hardly more records than it shows', async () => {
  const workspaceId = newWorkspaceId();
  const receiver = await register(workspaceId);
  for (let index = 0; index < 30; index++) await emit(await createTask(workspaceId), [receiver.id], NOW + index);
  const before = await countCalls('hgetall');
  expect((await log.listByWorkspace(workspaceId, {}, 10)).deliveries).toHaveLength(10);
  expect((await countCalls('hgetall')) - before).toBe(10);
});
