import { deliveryIdOf, newTestTransitionId, type AttemptVerdict } from '@herald/core';
import { LEASE_MS } from '../../support/leases.ts';
import { LIMIT, range, startEngine, type Engine } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const FIRST_PROBE_MS = 5_000;
const LAST_PROBE_MS = 300_000;
const NOW = Date.now();

const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });
const groupOf = (group: string) => engine.redis.hgetall(engine.keys.queue.group(group));

/** A destination with pending deliveries that nobody has attempted yet. */
async function prepare(count: number) {
  const receiver = await engine.register();
  const ids = await Promise.all(range(count).map(() => engine.acceptOne(receiver, NOW)));
  const fail = (index: number, now: number, isProbe = false) =>
    engine.record(ids[index] ?? '', { now, isProbe, verdict: retryAt(NOW + 1_000), answered: false });
  return { receiver, ids, group: receiver.group, fail };
}

/** A destination whose breaker opened at NOW. */
async function prepareOpen(count = 8) {
  const prepared = await prepare(count);
  for (const index of range(5)) await prepared.fail(index, NOW);
  return prepared;
}

describe('it opens', () => {
  test.each([
    { unanswered: 4, open: undefined },
    { unanswered: 5, open: '1' },
    { unanswered: 7, open: '1' },
  ])('after $unanswered sends in a row without an answer: $open', async ({ unanswered, open }) => {
    const { group, fail } = await prepare(8);
    for (const index of range(unanswered)) await fail(index, NOW);
    expect((await groupOf(group)).open).toBe(open);
  });

  test.each<{ answer: string; verdict: AttemptVerdict }>([
    { answer: '200', verdict: { kind: 'delivered' } },
    { answer: '500', verdict: retryAt(NOW + 1_000) },
    { answer: '404 on the last try', verdict: { kind: 'failed', reason: 'schedule_exhausted' } },
  ])('not when an answer ($answer) lies between', async ({ verdict }) => {
    const { ids, group, fail } = await prepare(9);
    for (const index of range(4)) await fail(index, NOW);
    await engine.record(ids[4] ?? '', { now: NOW, verdict, answered: true });
    for (const index of range(4)) await fail(5 + index, NOW);
    expect((await groupOf(group)).open).toBeUndefined();
  });

  test('for one receiver, and for no other at the same host', async () => {
    const { receiver, fail } = await prepare(5);
    for (const index of range(5)) await fail(index, NOW);
    const neighbour = await engine.register({ workspaceId: receiver.workspaceId, url: `${receiver.url}/other` });
    expect((await groupOf(receiver.group)).open).toBe('1');
    expect(await groupOf(neighbour.group)).toEqual({});
    const other = await engine.acceptOne(neighbour, NOW);
    expect(await engine.worker.reserve(NOW)).toMatchObject([{ id: other, isProbe: false }]);
  });

  test('also when the sends that fail belong to deliveries that were settled or are gone', async () => {
    const { ids, group, fail } = await prepare(5);
    await engine.worker.deliveries.cancel(ids[0] ?? '', 'receiver_removed', NOW);
    const gone = await engine.load(ids[1] ?? '');
    await engine.redis.del(engine.keys.delivery(ids[1] ?? ''));
    const reply = await engine.worker.deliveries.record({
      delivery: gone.delivery,
      group: gone.group,
      verdict: retryAt(NOW),
      now: NOW,
      attempt: { at: NOW, durationMs: 1 },
      answered: false,
      gone: false,
      isProbe: false,
      isRedelivery: false,
      lease: await engine.leases.of(ids[1] ?? '', NOW),
      groupLimit: LIMIT,
    });
    expect(reply.kind).toBe('missing');
    expect(await engine.statusOf(ids[1] ?? '')).toBe('missing');
    for (const index of [0, 2, 3, 4]) await fail(index, NOW);
    expect((await groupOf(group)).open).toBe('1');
  });
});

describe('while it is open', () => {
  test('nothing goes out before the first probe is due, and then one at a time, whichever worker asks', async () => {
    const { ids } = await prepareOpen();
    const { worker, otherWorker } = engine;
    expect(await worker.reserve(NOW + FIRST_PROBE_MS - 1)).toEqual([]);
    const due = NOW + FIRST_PROBE_MS;
    const replies = await Promise.all(range(20).map((index) => (index % 2 ? worker : otherWorker).reserve(due)));
    const [probe, ...others] = replies.flat();
    expect([probe?.isProbe, others]).toEqual([true, []]);
    expect(ids).toContain(probe?.id);
  });

  test('only a probe that fails doubles the wait, up to five minutes', async () => {
    const { group, fail } = await prepareOpen();
    await fail(6, NOW); // one that was in flight when it opened
    const first = { wait: String(FIRST_PROBE_MS), probe: String(NOW + FIRST_PROBE_MS) };
    expect(await groupOf(group)).toMatchObject(first);
    let now = NOW;
    for (const waitMs of [10_000, 20_000, 40_000, 80_000, 160_000, LAST_PROBE_MS, LAST_PROBE_MS]) {
      now += LAST_PROBE_MS;
      await fail(7, now, true);
      const next = { open: '1', wait: String(waitMs), probe: String(now + waitMs) };
      expect(await groupOf(group)).toMatchObject(next);
    }
  });

  test('the record of a probe that is sent twice lets no other probe go early', async () => {
    const { group } = await prepareOpen();
    const [probe] = await engine.worker.reserve(NOW + FIRST_PROBE_MS);
    const { delivery, group: to } = await engine.load(probe?.id ?? '');
    const now = NOW + FIRST_PROBE_MS + 10;
    const attempt = {
      delivery,
      group: to,
      now,
      verdict: retryAt(now),
      attempt: { at: now, durationMs: 1 },
      answered: false,
      gone: false,
      isProbe: true,
      isRedelivery: false,
      groupLimit: LIMIT,
      lease: probe?.handle ?? '',
    };
    await engine.worker.deliveries.record(attempt);
    const before = await groupOf(group);
    expect(before.probe).toBe(String(now + 10_000));
    await engine.worker.deliveries.record(attempt);
    expect(await groupOf(group)).toEqual(before);
  });

  test('a prober that dies blocks the next one until its lease ends, and no longer', async () => {
    await prepareOpen();
    const due = NOW + FIRST_PROBE_MS;
    expect(await engine.worker.reserve(due)).toMatchObject([{ isProbe: true }]);
    const take = async (now: number) => {
      await engine.otherWorker.recover(now);
      return await engine.otherWorker.reserve(now);
    };
    expect(await take(due + LEASE_MS - 1)).toEqual([]);
    expect(await take(due + LEASE_MS)).toMatchObject([{ isProbe: true }]);
  });

  test('a probe that never went out lets the next one go at once', async () => {
    await prepareOpen();
    const due = NOW + FIRST_PROBE_MS;
    for (const probe of await engine.worker.reserve(due)) await engine.worker.putBack(probe, due);
    expect(await engine.otherWorker.reserve(due)).toMatchObject([{ isProbe: true }]);
  });

  test.each([200, 500])('an answer (%i), to whatever send, lets all that waits go', async (status) => {
    const { ids, group } = await prepareOpen();
    const verdict: AttemptVerdict = status === 200 ? { kind: 'delivered' } : retryAt(NOW + 60_000);
    const reply = await engine.record(ids[0] ?? '', { now: NOW, verdict, answered: true });
    expect(reply.breaker).toBe('closed');
    const { open, fails, probe } = await groupOf(group);
    expect([open, fails, probe]).toEqual([undefined, undefined, undefined]);
    const jobs = await engine.worker.reserve(NOW);
    expect(jobs.length).toBeGreaterThan(0);
    expect(jobs.every(({ isProbe }) => !isProbe)).toBe(true);
  });

  test('what it knows leaves by itself', async () => {
    const { group } = await prepareOpen();
    expect(await engine.redis.pttl(engine.keys.queue.group(group))).toBeGreaterThan(86_400_000);
  });
});

test('a destination that asked to be left alone is, until then; the longest wish counts, and what was sent before doesn’t end it', async () => {
  const { ids, group } = await prepare(4);
  const holdUntil = NOW + 60_000;
  await engine.record(ids[0] ?? '', { now: NOW, verdict: retryAt(NOW + 3_600_000), answered: true, holdUntil });
  await engine.record(ids[1] ?? '', { now: NOW, answered: true, holdUntil: NOW + 9 });
  await engine.record(ids[2] ?? '', { now: NOW });
  expect((await groupOf(group)).hold).toBe(String(holdUntil));
  expect(await engine.worker.reserve(holdUntil - 1)).toEqual([]);
  expect(await engine.worker.reserve(holdUntil)).toMatchObject([{ id: ids[3], isProbe: false }]);
});

test('a success that was sent after a destination asked to be left alone ends that', async () => {
  const { ids, group } = await prepare(3);
  const verdict = retryAt(NOW + 3_600_000);
  await engine.record(ids[0] ?? '', { now: NOW, verdict, answered: true, holdUntil: NOW + 60_000 });
  const attempt = { at: NOW + 400, durationMs: 100 };
  await engine.record(ids[1] ?? '', { now: NOW + 500, verdict, answered: true, attempt });
  expect((await groupOf(group)).hold).toBe(String(NOW + 60_000));
  await engine.record(ids[2] ?? '', { now: NOW + 500, answered: true, attempt });
  expect((await groupOf(group)).hold).toBeUndefined();
});

test('the time that a destination takes to answer is known of its group', async () => {
  const { ids, group } = await prepare(2);
  await engine.record(ids[0] ?? '', { now: NOW, answered: true, attempt: { at: NOW - 999, durationMs: 999 } });
  expect((await groupOf(group)).took).toBeUndefined();
  await engine.record(ids[1] ?? '', { now: NOW, answered: true, attempt: { at: NOW - 3_000, durationMs: 3_000 } });
  expect((await groupOf(group)).took).toBe('1500');
});

test('a test event changes a group’s breaker as any other send, and is held back by none', async () => {
  const { receiver, group } = await prepareOpen();
  const transitionId = newTestTransitionId();
  const deliveryId = deliveryIdOf(transitionId, receiver.id);
  const { workspaceId, id: endpointId } = receiver;
  await engine.stores.testEvents.create({
    transitionId,
    deliveryId,
    endpointId,
    workspaceId,
    body: '{}',
    createdAt: NOW,
  });
  const [job] = await engine.worker.reserve(NOW);
  expect(job).toMatchObject({ id: deliveryId, ring: 0, isProbe: false });
  await engine.record(deliveryId, { now: NOW, lease: job?.handle ?? '' });
  expect((await groupOf(group)).open).toBeUndefined();
  expect(await engine.leases.isQueued(deliveryId)).toBe(false);
});
