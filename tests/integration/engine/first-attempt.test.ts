import type { AttemptVerdict } from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import { readAttempts } from '@herald/store/lists/delivery-reader';
import { describeDelivery } from '@herald/store/operators/describe-delivery';
import { LIMIT, range, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
let receiver: Receiver;
beforeAll(async () => {
  engine = await startEngine();
  // As a Redis has it that nobody has configured.
  await engine.redis.config('SET', 'hash-max-listpack-value', 64);
});
afterAll(() => engine[Symbol.asyncDispose]());
beforeEach(async () => {
  await engine.redis.flushall();
  receiver = await engine.register();
});

const NOW = Date.now();
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });
const answered = (at: number, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  ...{ at, durationMs: 3, status: 200, answer: 'ok' },
  ...more,
});
const listOf = (id: string) => engine.redis.lrange(engine.keys.attempts(id), 0, -1);

/** The log of a delivery, which all who read it must see alike. */
async function logOf(id: string) {
  const found = await engine.log.find(receiver.workspaceId, id);
  const attempts = found?.attempts ?? [];
  const last = attempts.at(-1);
  expect(found?.delivery.lastAttempt).toEqual(last);
  const page = await engine.log.listByWorkspace(receiver.workspaceId, {}, 10);
  expect(page.deliveries.find((each) => each.id === id)?.lastAttempt).toEqual(last);
  const described = await describeDelivery(engine.redis, engine.keys, id);
  expect({ count: described?.attempts, last: described?.lastAttempt }).toEqual({ count: attempts.length, last });
  expect(await readAttempts(engine.redis, engine.keys, id)).toEqual(attempts);
  return attempts;
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', server: 'nginx', 'retry-after': '5' };
const bytes = (count: number) => `ü"\\\0${'x'.repeat(count - 5)}`;

test.each<{ what: string; attempt: AttemptRecord; inList: number }>([
  { what: 'an answer and headers', attempt: answered(NOW + 2, { headers: HEADERS }), inList: 0 },
  { what: 'an answer of 64 bytes', attempt: answered(NOW, { answer: bytes(64) }), inList: 0 },
  { what: 'an answer of 65 bytes', attempt: answered(NOW, { answer: bytes(65) }), inList: 1 },
  { what: 'a header of 65 bytes', attempt: answered(NOW, { headers: { server: bytes(65) } }), inList: 1 },
  { what: 'an answer of 1 KiB', attempt: answered(NOW, { answer: 'приём'.repeat(100) }), inList: 1 },
  { what: 'no answer', attempt: { at: NOW, durationMs: 10_000, error: 'timeout_response' }, inList: 0 },
])('a first attempt with $what is logged as it was, and the record stays compact', async ({ attempt, inList }) => {
  const id = await engine.acceptOne(receiver, NOW);
  await engine.record(id, { now: NOW + 5, attempt });
  expect(await logOf(id)).toEqual([attempt]);
  expect(await listOf(id)).toHaveLength(inList);
  expect(await engine.redis.object('ENCODING', engine.keys.delivery(id))).toBe('listpack');
});

test('a second attempt follows the first, and so does that of a redelivery', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  const attempts = [answered(NOW, { status: 503 }), answered(NOW + 2), answered(NOW + 9, { answer: 'again' })];
  const [first, second, third] = attempts;
  await engine.record(id, { now: NOW + 1, verdict: retryAt(NOW + 2), ...(first && { attempt: first }) });
  expect(await logOf(id)).toEqual([first]);
  await engine.record(id, { now: NOW + 3, ...(second && { attempt: second }) });
  expect(await logOf(id)).toEqual([first, second]);
  await engine.log.redeliver(receiver.workspaceId, id, NOW + 8);
  await engine.record(id, { now: NOW + 10, ...(third && { attempt: third }) });
  expect(await logOf(id)).toEqual(attempts);
  expect(await listOf(id)).toHaveLength(2);
});

test('a log that a former version began goes on in its list', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  const former = { at: NOW, durationMs: 7, status: 500 };
  await engine.redis.rpush(engine.keys.attempts(id), JSON.stringify(former));
  expect(await logOf(id)).toEqual([former]);
  await engine.record(id, { now: NOW + 5, attempt: answered(NOW + 4) });
  expect(await logOf(id)).toEqual([former, answered(NOW + 4)]);
  expect(await listOf(id)).toHaveLength(2);
});

test('a log that a former version goes on with keeps its order', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  await engine.record(id, { now: NOW, verdict: retryAt(NOW + 1), attempt: answered(NOW, { status: 500 }) });
  const second = { at: NOW + 1, durationMs: 7, status: 200 };
  await engine.redis.rpush(engine.keys.attempts(id), JSON.stringify(second));
  expect(await logOf(id)).toEqual([answered(NOW, { status: 500 }), second]);
});

test('the latest 50 attempts stay, however many are made', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  const attempts = range(53).map((index) => answered(NOW + index));
  const logs: AttemptRecord[][] = [];
  for (const [index, attempt] of attempts.entries()) {
    if (index > 0) await engine.log.redeliver(receiver.workspaceId, id, NOW + index);
    await engine.record(id, { now: NOW + index, attempt });
    logs.push(await readAttempts(engine.redis, engine.keys, id));
  }
  expect(logs).toEqual(attempts.map((_, index) => attempts.slice(Math.max(0, index - 49), index + 1)));
  expect(await logOf(id)).toHaveLength(50);
});

test('the record of a first attempt that comes again after a second was made adds nothing', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const facts = { answered: true, gone: false, isProbe: false, isRedelivery: false, groupLimit: LIMIT };
  const failure = {
    ...{ ...facts, delivery, group, now: NOW, verdict: retryAt(NOW + 5), disableAfterMs: 1_000_000 },
    attempt: answered(NOW, { status: 503 }),
    lease: await engine.leases.of(id, NOW),
  };
  await engine.worker.deliveries.record(failure);
  await engine.worker.deliveries.record(failure);
  expect(await logOf(id)).toEqual([failure.attempt]);
  const second = answered(NOW + 6, { status: 500 });
  await engine.record(id, { now: NOW + 6, verdict: retryAt(NOW + 9), attempt: second });
  await engine.worker.deliveries.record(failure);
  expect(await logOf(id)).toEqual([failure.attempt, second]);
  expect((await engine.load(id)).delivery).toMatchObject({ tries: 2, nextAttemptAt: NOW + 9 });
  expect(await engine.redis.hget(engine.keys.endpoint(receiver.id), 'fails')).toBe('2');
});

test('a first attempt of another worker, or of a replay, overwrites none', async () => {
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const attempts = [answered(NOW), answered(NOW + 1, { status: 500 })];
  for (const attempt of attempts) {
    await engine.worker.deliveries.record({
      ...{ delivery, group, now: NOW + 2, verdict: { kind: 'delivered' }, attempt, groupLimit: LIMIT },
      ...{ answered: true, gone: false, isProbe: false, isRedelivery: false, lease: await engine.leases.of(id, NOW) },
    });
  }
  expect(await logOf(id)).toEqual(attempts);
});
