import type { AttemptVerdict } from '@herald/core';
import { LEASE_MS, range, startEngine, type Engine } from './start-engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

/** What a take brings of each. */
const A_DELIVERY = { id: expect.any(String) as string, loaded: expect.objectContaining({ kind: 'loaded' }) as object };
const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;
const NOW = Date.now();

const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });
/** As in production: a breaker's hash is gone, or says nothing of an open one. */
const breakerOf = async (destination: string) => await engine.redis.hgetall(engine.keys.breaker(destination));

/** A destination with pending deliveries that nobody has attempted yet. */
async function prepare(count: number) {
  const receiver = await engine.register();
  const ids = await Promise.all(range(count).map(() => engine.acceptOne(receiver, NOW)));
  const fail = (index: number, now: number, isProbe = false) =>
    engine.record(ids[index] ?? '', { now, isProbe, verdict: retryAt(now + 1_000), answered: false });
  return { receiver, ids, destination: receiver.destination, fail };
}

/** A destination whose breaker opened at NOW, with everything in its backlog. */
async function prepareOpen(count = 8) {
  const prepared = await prepare(count);
  for (const index of range(5)) await prepared.fail(index, NOW);
  for (const id of prepared.ids) await engine.worker.backlog.put(id, prepared.destination, NOW, false);
  return prepared;
}

describe('it opens', () => {
  test.each([
    { unanswered: 4, open: undefined },
    { unanswered: 5, open: '1' },
    { unanswered: 7, open: '1' },
  ])('after $unanswered sends in a row without an answer: $open', async ({ unanswered, open }) => {
    const { destination, fail } = await prepare(8);
    for (const index of range(unanswered)) await fail(index, NOW);
    expect((await breakerOf(destination)).open).toBe(open);
    expect((await engine.load((await engine.acceptOne(await engine.register(), NOW)) || '')).destination.isOpen).toBe(
      false,
    );
  });

  test.each<{ answer: string; verdict: AttemptVerdict }>([
    { answer: '200', verdict: { kind: 'delivered' } },
    { answer: '500', verdict: retryAt(NOW + 1_000) },
    { answer: '404 on the last try', verdict: { kind: 'failed', reason: 'schedule_exhausted' } },
  ])('not when an answer ($answer) lies between', async ({ verdict }) => {
    const { ids, destination, fail } = await prepare(9);
    for (const index of range(4)) await fail(index, NOW);
    await engine.record(ids[4] ?? '', { now: NOW, verdict, answered: true });
    for (const index of range(4)) await fail(5 + index, NOW);
    expect((await breakerOf(destination)).open).toBeUndefined();
  });

  test('for one destination of one workspace, and for all endpoints that lead there', async () => {
    const { receiver, fail } = await prepare(5);
    for (const index of range(5)) await fail(index, NOW);
    const neighbour = await engine.register({
      workspaceId: receiver.workspaceId,
      url: 'https://hooks.example.com/other',
    });
    const other = await engine.register({
      workspaceId: receiver.workspaceId,
      url: 'https://hooks.example.com:8443/in',
    });
    const foreign = await engine.register();
    const isOpen = async (to: typeof receiver) =>
      (await engine.load(await engine.acceptOne(to, NOW))).destination.isOpen;
    expect(await isOpen(neighbour)).toBe(true);
    expect(await isOpen(other)).toBe(false);
    expect(await isOpen(foreign)).toBe(false);
  });

  test('also when the sends that fail belong to deliveries that were settled or are gone', async () => {
    const { ids, destination, fail } = await prepare(5);
    await engine.worker.deliveries.cancel(ids[0] ?? '', 'receiver_removed', NOW);
    const gone = await engine.load(ids[1] ?? '');
    await engine.redis.del(engine.keys.delivery(ids[1] ?? ''));
    const reply = await engine.worker.deliveries.record({
      ...{ delivery: gone.delivery, destination: gone.destination, verdict: retryAt(NOW), now: NOW },
      ...{ attempt: { at: NOW, durationMs: 1 }, answered: false, gone: false, isProbe: false, wasOwed: false },
    });
    expect(reply.kind).toBe('missing');
    expect(await engine.statusOf(ids[1] ?? '')).toBe('missing');
    for (const index of [0, 2, 3, 4]) await fail(index, NOW);
    expect((await breakerOf(destination)).open).toBe('1');
  });
});

describe('while it is open', () => {
  test('nothing goes out before the first probe is due, and then one at a time, whichever worker asks', async () => {
    const { destination, ids } = await prepareOpen();
    const { worker, otherWorker } = engine;
    const early = NOW + FIRST_PROBE_MS - 1;
    expect(await worker.backlog.take(destination, early, early + LEASE_MS, 1)).toEqual({ kind: 'wait' });
    expect(await engine.redis.zscore(engine.keys.backlogs, destination)).toBe(String(NOW + FIRST_PROBE_MS));
    const due = NOW + FIRST_PROBE_MS;
    const replies = await Promise.all(
      range(20).map((index) => (index % 2 ? worker : otherWorker).backlog.take(destination, due, due + LEASE_MS, 1)),
    );
    const taken = replies.filter(({ kind }) => kind === 'taken');
    expect(taken).toEqual([{ kind: 'taken', deliveries: [A_DELIVERY], isProbe: true }]);
    expect(ids).toContain(taken[0]?.kind === 'taken' && taken[0].deliveries[0]?.id);
  });

  test('a probe comes alone, however many may be taken', async () => {
    const { destination } = await prepareOpen();
    const due = NOW + FIRST_PROBE_MS;
    const reply = await engine.worker.backlog.take(destination, due, due + LEASE_MS, 10);
    expect(reply).toMatchObject({ kind: 'taken', deliveries: [{}], isProbe: true });
    expect(reply.kind === 'taken' && reply.deliveries).toHaveLength(1);
  });

  test('only a probe that fails doubles the wait, up to five minutes', async () => {
    const { destination, fail } = await prepareOpen();
    await fail(6, NOW); // one that was in flight when it opened
    expect(await breakerOf(destination)).toMatchObject({
      wait: String(FIRST_PROBE_MS),
      probe: String(NOW + FIRST_PROBE_MS),
    });
    let now = NOW;
    for (const waitMs of [10_000, 20_000, 40_000, 80_000, 160_000, LAST_PROBE_MS, LAST_PROBE_MS]) {
      now += LAST_PROBE_MS;
      await fail(7, now, true);
      expect(await breakerOf(destination)).toMatchObject({
        open: '1',
        wait: String(waitMs),
        probe: String(now + waitMs),
      });
    }
  });

  test('a prober that dies blocks the next one until its lease ends, and no longer', async () => {
    const { destination } = await prepareOpen();
    const due = NOW + FIRST_PROBE_MS;
    const leaseEndsAt = due + LEASE_MS;
    const first = await engine.worker.backlog.take(destination, due, leaseEndsAt, 1);
    const take = (now: number) => engine.otherWorker.backlog.take(destination, now, now + LEASE_MS, 1);
    expect(await take(leaseEndsAt - 1)).toEqual({ kind: 'wait' });
    expect(await engine.redis.zscore(engine.keys.backlogs, destination)).toBe(String(leaseEndsAt));
    const second = await take(leaseEndsAt);
    expect(second).toMatchObject({ kind: 'taken', isProbe: true });
    expect(second).not.toEqual(first); // what it had goes to the end
  });

  test('a probe that never went out lets the next one go at once', async () => {
    const { destination } = await prepareOpen();
    const due = NOW + FIRST_PROBE_MS;
    await engine.worker.backlog.take(destination, due, due + LEASE_MS, 1);
    await engine.worker.backlog.releaseProbe(destination, due);
    const next = await engine.otherWorker.backlog.take(destination, due, due + LEASE_MS, 1);
    expect(next).toMatchObject({ kind: 'taken', isProbe: true });
  });

  test.each([200, 500])('an answer (%i), to whatever send, lets the whole backlog go', async (status) => {
    const { ids, destination } = await prepareOpen();
    const verdict: AttemptVerdict = status === 200 ? { kind: 'delivered' } : retryAt(NOW + 1_000);
    const reply = await engine.record(ids[0] ?? '', { now: NOW, verdict, answered: true });
    expect(reply.hasBacklog).toBe(true);
    expect(await breakerOf(destination)).toEqual({});
    const takes = await Promise.all(
      range(3).map(() => engine.worker.backlog.take(destination, NOW, NOW + LEASE_MS, 1)),
    );
    expect(takes).toEqual(range(3).map(() => ({ kind: 'taken', deliveries: [A_DELIVERY], isProbe: false })));
  });

  test('what it knows leaves by itself', async () => {
    const { destination } = await prepareOpen();
    expect(await engine.redis.pttl(engine.keys.breaker(destination))).toBeGreaterThan(86_400_000);
  });
});

describe('a destination that asked to be left alone', () => {
  test('is, until then; the longest wish counts, and a later answer doesn’t end it', async () => {
    const { ids, destination } = await prepare(4);
    const holdUntil = NOW + 60_000;
    await engine.record(ids[0] ?? '', { now: NOW, verdict: retryAt(holdUntil), answered: true, holdUntil });
    await engine.record(ids[1] ?? '', { now: NOW, verdict: retryAt(NOW + 9), answered: true, holdUntil: NOW + 9 });
    await engine.record(ids[2] ?? '', { now: NOW });
    expect((await engine.load(ids[3] ?? '')).destination.holdUntil).toBe(holdUntil);
    const { backlog } = engine.worker;
    await backlog.put(ids[3] ?? '', destination, NOW, false);
    expect(await backlog.take(destination, holdUntil - 1, holdUntil + LEASE_MS, 1)).toEqual({ kind: 'wait' });
    expect(await engine.redis.zscore(engine.keys.backlogs, destination)).toBe(String(holdUntil));
    expect(await backlog.take(destination, holdUntil, holdUntil + LEASE_MS, 1)).toMatchObject({
      kind: 'taken',
      isProbe: false,
    });
  });
});
