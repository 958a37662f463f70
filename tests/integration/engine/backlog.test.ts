import type { AttemptVerdict } from '@herald/core';
import { LEASE_MS, range, startEngine, type Engine } from './start-engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

/** A receiver with pending deliveries, accepted a second apart, the first at NOW. */
async function prepare(count: number) {
  const receiver = await engine.register();
  const ids: string[] = [];
  for (const index of range(count)) ids.push(await engine.acceptOne(receiver, NOW + index * 1_000));
  const { destination } = receiver;
  const { backlog } = engine.worker;
  return {
    ...{ receiver, destination, ids },
    put: (index: number, now: number, urgent = false) => backlog.put(ids[index] ?? '', destination, now, urgent),
    take: async (now: number, by = backlog) => {
      const reply = await by.take(destination, now, now + LEASE_MS, 1);
      return reply.kind === 'taken' ? ids.indexOf(reply.deliveries[0]?.id ?? '') : reply.kind;
    },
    /** Replays what failed, in one step. */
    replay: async (now: number) => {
      const id = `rpl_${destination}_${now}`;
      const created = { since: NOW - 1, until: now + 1, statuses: ['failed'] as const, createdAt: now };
      await engine.replays.create(receiver.workspaceId, { id, endpointId: receiver.id, ...created });
      expect(await engine.worker.steps.step(id, now)).toMatchObject({ kind: 'ended' });
    },
    score: () => engine.redis.zscore(engine.keys.backlogs, destination),
    size: () => engine.redis.zcard(engine.keys.backlog(destination)),
  };
}

test('a redelivery goes first, then what is live in its order, then what is replayed in its', async () => {
  const { ids, put, take, replay } = await prepare(7);
  const later = NOW + 100_000;
  for (const index of [0, 1]) await engine.settle(ids[index] ?? '', NOW + 10_000 + index, 'failed');
  await replay(later);
  for (const index of [3, 2]) await put(index, later + 2_000);
  await put(4, later + 1_000);
  await put(5, later + 3_000, true);
  const order = [];
  while (order.length < 7) order.push(await take(later + 5_000));
  const replayed = [0, 1].sort((a, b) => ((ids[a] ?? '') < (ids[b] ?? '') ? -1 : 1));
  const sameTime = [2, 3].sort((a, b) => ((ids[a] ?? '') < (ids[b] ?? '') ? -1 : 1));
  expect(order).toEqual([5, 4, ...sameTime, ...replayed, 'wait']);
});

test('several are taken at once: in their order, with what their attempts need, and no more than may go', async () => {
  const { ids, destination, put, take } = await prepare(4);
  await put(3, NOW);
  expect(await take(NOW)).toBe(3); // in work, and nobody else's
  for (const index of [0, 1, 2]) await put(index, NOW + index);
  const reply = await engine.worker.backlog.take(destination, NOW + 10, NOW + 10 + LEASE_MS, 10);
  if (reply.kind !== 'taken') throw new Error('three may go');
  expect(reply.deliveries.map(({ id }) => id)).toEqual(ids.slice(0, 3));
  for (const { id, loaded } of reply.deliveries) expect(loaded).toEqual(await engine.load(id));
  expect(await take(NOW + 10)).toBe('wait');
});

test('one that can’t be read comes without, and keeps no other from being taken', async () => {
  const { ids, destination, put } = await prepare(2);
  for (const index of [0, 1]) await put(index, NOW + index);
  await engine.redis.del(engine.keys.delivery(ids[0] ?? ''));
  await engine.redis.set(engine.keys.delivery(ids[0] ?? ''), 'of another type');
  const reply = await engine.worker.backlog.take(destination, NOW + 10, NOW + 10 + LEASE_MS, 10);
  if (reply.kind !== 'taken') throw new Error('two may go');
  expect(reply.deliveries.map(({ id, loaded }) => [id, loaded !== undefined])).toEqual([
    [ids[0], false],
    [ids[1], true],
  ]);
});

describe('an attempt that was made for a place in the backlog', () => {
  const forBacklog = { place: { kind: 'backlog' } } as const;

  test('leaves it with the record that ends the delivery', async () => {
    const { ids, put, take, size } = await prepare(2);
    for (const index of [0, 1]) await put(index, NOW + index);
    expect(await take(NOW + 10)).toBe(0);
    const first = await engine.record(ids[0] ?? '', { now: NOW + 11, ...forBacklog });
    expect(first).toMatchObject({ hasLeft: true, hasBacklog: true });
    expect(await size()).toBe(1);
    expect(await take(NOW + 10)).toBe(1);
    const failed = { kind: 'failed', reason: 'schedule_exhausted' } as const;
    const last = await engine.record(ids[1] ?? '', { now: NOW + 11, verdict: failed, ...forBacklog });
    expect(last).toMatchObject({ hasLeft: true, hasBacklog: false });
  });

  test('keeps it when another try is to be made, or a redelivery is owed', async () => {
    const { ids, put, take, size } = await prepare(2);
    for (const index of [0, 1]) await put(index, NOW + index);
    for (const index of [0, 1]) expect(await take(NOW + 10)).toBe(index);
    const retried = await engine.record(ids[0] ?? '', { now: NOW + 11, verdict: retryAt(NOW + 99), ...forBacklog });
    await engine.redis.hset(engine.keys.delivery(ids[1] ?? ''), 'owe', 2);
    const owing = await engine.record(ids[1] ?? '', { now: NOW + 11, ...forBacklog });
    for (const reply of [retried, owing]) expect(reply).not.toHaveProperty('hasLeft');
    expect(await size()).toBe(2);
  });
});

test('what is taken is nobody else’s until its lease ends; then it comes again', async () => {
  const { put, take, score } = await prepare(1);
  await put(0, NOW);
  expect(await take(NOW)).toBe(0);
  expect(await take(NOW + LEASE_MS - 1, engine.otherWorker.backlog)).toBe('wait');
  expect(await score()).toBe(String(NOW + LEASE_MS));
  expect(await take(NOW + LEASE_MS, engine.otherWorker.backlog)).toBe(0);
});

test('two workers that take at once never get the same', async () => {
  const { put, take } = await prepare(30);
  await Promise.all(range(30).map((index) => put(index, NOW)));
  const { worker, otherWorker } = engine;
  const taken = await Promise.all(
    range(40).map((index) => take(NOW, index % 2 ? worker.backlog : otherWorker.backlog)),
  );
  expect(taken.filter((each) => typeof each === 'number').sort((a, b) => a - b)).toEqual(range(30));
});

test('an empty backlog leaves the list of those to look at', async () => {
  const { ids, destination, put, take, score } = await prepare(1);
  await put(0, NOW);
  await take(NOW);
  await engine.settle(ids[0] ?? '', NOW, 'delivered');
  await engine.worker.backlog.leave(ids[0] ?? '', destination, NOW);
  expect(await take(NOW)).toBe('empty');
  expect(await score()).toBeNull();
});

test('what comes pulls the next look forward, and a take leaves it, so that other workers join in', async () => {
  const { put, take, score } = await prepare(3);
  await put(0, NOW);
  expect(await score()).toBe(String(NOW + 2_000));
  await take(NOW);
  expect(await take(NOW)).toBe('wait');
  expect(await score()).toBe(String(NOW + LEASE_MS));
  await put(1, NOW + 1_000);
  await put(2, NOW + 1_000);
  expect(await score()).toBe(String(NOW + 3_000));
  for (const at of [NOW + 2_000, NOW + 2_500]) expect(await take(at)).toEqual(expect.any(Number));
  expect(await score()).toBe(String(NOW + 3_000));
});

test('what a stopping worker puts back is there for the others at once', async () => {
  const { ids, destination, put, take, score } = await prepare(1);
  await put(0, NOW);
  await take(NOW);
  await take(NOW); // looks again when the lease ends
  await engine.worker.backlog.putBack(ids[0] ?? '', destination, NOW + 5_000);
  expect(await score()).toBe(String(NOW + 5_000));
  expect(await take(NOW + 5_000, engine.otherWorker.backlog)).toBe(0);
});

describe('a redelivery', () => {
  test('is brought forward where it waits', async () => {
    const { put, take } = await prepare(2);
    await put(0, NOW);
    await put(1, NOW + 1_000);
    await put(1, NOW + 2_000, true);
    expect(await take(NOW + 2_000)).toBe(1);
  });

  test('doesn’t take away what is in work: it would be sent twice', async () => {
    const { put, take } = await prepare(1);
    await put(0, NOW);
    expect(await take(NOW)).toBe(0);
    await put(0, NOW + 1_000, true);
    expect(await take(NOW + 1_000, engine.otherWorker.backlog)).toBe('wait');
  });

  test('goes through a hold and through an open breaker, as its probe', async () => {
    const { ids, put, take } = await prepare(8);
    for (const index of range(5))
      await engine.record(ids[index] ?? '', { now: NOW, answered: false, verdict: retryAt(NOW + 1_000) });
    await engine.record(ids[5] ?? '', { now: NOW, answered: false, verdict: retryAt(NOW), holdUntil: NOW + 60_000 });
    await put(6, NOW);
    expect(await take(NOW)).toBe('wait');
    await put(7, NOW, true);
    expect(await take(NOW)).toBe(7);
    // Its lease is the breaker's, and no other probe goes out beside it.
    expect(await take(NOW + 60_001 - LEASE_MS)).toBe('wait');
  });
});

describe('acceptance', () => {
  test('joins a backlog in which somebody waits, and needs no job', async () => {
    const { receiver, destination, put, size } = await prepare(1);
    await put(0, NOW);
    const { ids, inBacklog } = await engine.accept([receiver], NOW + 5_000);
    expect(inBacklog).toEqual(ids);
    expect(await size()).toBe(2);
    const owed = await engine.stores.duties.findPending('deliveries', ids);
    expect(owed).toMatchObject([{ hasJob: false, isInBacklog: true }]);
    expect(await engine.worker.backlog.take(destination, NOW + 6_000, NOW + 7_000, 1)).toMatchObject({ kind: 'taken' });
  });

  test('doesn’t queue behind what is in work: there may be room beside a send that hangs', async () => {
    const { receiver, put, take } = await prepare(1);
    await put(0, NOW);
    expect(await take(NOW)).toBe(0);
    expect((await engine.accept([receiver], NOW + 5_000)).inBacklog).toEqual([]);
  });

  test('joins only the backlog of its own destination', async () => {
    const { receiver, put } = await prepare(1);
    await put(0, NOW);
    const other = await engine.register({ workspaceId: receiver.workspaceId, url: 'https://other.example.com/in' });
    const { ids, inBacklog } = await engine.accept([other, receiver], NOW + 5_000);
    expect(inBacklog).toEqual([ids[1]]);
  });
});

describe('what was attempted leaves its backlog', () => {
  test.each<{ when: string; verdict: AttemptVerdict; job: 'waiting' | 'active' | 'none'; stays: boolean }>([
    { when: 'it is delivered', verdict: { kind: 'delivered' }, job: 'none', stays: false },
    { when: 'it has failed', verdict: { kind: 'failed', reason: 'schedule_exhausted' }, job: 'none', stays: false },
    { when: 'its job waits for the next try', verdict: retryAt(NOW + 60_000), job: 'waiting', stays: false },
    { when: 'its job could not be added', verdict: retryAt(NOW + 60_000), job: 'none', stays: true },
    // An earlier job of the same id that is just ending swallows the new one, and takes it with it.
    { when: 'an earlier job of it is just ending', verdict: retryAt(NOW + 60_000), job: 'active', stays: true },
  ])('when $when, it stays: $stays', async ({ verdict, job, stays }) => {
    const { ids, destination, put, take, size } = await prepare(1);
    const [id = ''] = ids;
    await put(0, NOW);
    await take(NOW);
    await engine.record(id, { now: NOW, verdict, answered: true });
    if (job !== 'none') await engine.queue.add([{ id, event: 'task.done', dueAt: NOW + 60_000 }], NOW);
    const line = `${engine.keys.bullPrefix}:deliveries`;
    if (job === 'active') {
      await engine.redis.zrem(`${line}:delayed`, id);
      await engine.redis.lpush(`${line}:active`, id);
    }
    await engine.worker.backlog.leave(id, destination, NOW);
    expect(await size()).toBe(stays ? 1 : 0);
    if (!stays) return;
    expect(await take(NOW + 999)).toBe('wait');
    expect(await take(NOW + 1_000)).toBe(0);
  });

  test('it stays when a replay set it pending between its record and its leaving', async () => {
    const { ids, destination, put, take, replay, size } = await prepare(1);
    await put(0, NOW);
    await take(NOW);
    await engine.settle(ids[0] ?? '', NOW, 'failed');
    await replay(NOW + 10);
    await engine.worker.backlog.leave(ids[0] ?? '', destination, NOW + 10);
    expect(await size()).toBe(1);
    expect(await take(NOW + 1_010)).toBe(0);
  });

  test('it stays when a redelivery was asked for between its record and its leaving', async () => {
    const { receiver, ids, destination, put, take } = await prepare(1);
    await put(0, NOW);
    await take(NOW);
    await engine.settle(ids[0] ?? '', NOW, 'delivered');
    await engine.log.redeliver(receiver.workspaceId, ids[0] ?? '', NOW);
    await engine.worker.backlog.leave(ids[0] ?? '', destination, NOW);
    expect(await take(NOW + 1_000)).toBe(0);
  });
});

test('the record says where a delivery waits, so that a job left over doesn’t send it beside the backlog', async () => {
  const { ids, put, take } = await prepare(1);
  const [id = ''] = ids;
  expect((await engine.load(id)).inBacklogFrom).toBeUndefined();
  await put(0, NOW);
  expect((await engine.load(id)).inBacklogFrom).toBeLessThan(NOW);
  await take(NOW);
  expect((await engine.load(id)).inBacklogFrom).toBe(NOW + LEASE_MS);
});
