import { deliveryIdOf, newTestTransitionId, UnavailableError } from '@herald/core';
import { readAttempts } from '@herald/store/lists/delivery-reader';
import { createReplaySteps, REPLAY_STEP, type ReplaySteps } from '@herald/store/bulk/replay-steps';
import type { NewReplay } from '@herald/store/bulk/replay-store';
import { expectTtl } from '../../support/expect-ttl.ts';
import { range, RETENTION_MS, startEngine, type Engine } from './start-engine.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const LATER = NOW + 60_000;

/** A receiver whose deliveries, accepted at these times, were all settled like this. */
async function prepare(acceptedAt: readonly number[], status: 'failed' | 'delivered' = 'failed') {
  const receiver = await engine.register({ createdAt: NOW });
  const ids = await Promise.all(acceptedAt.map((at) => engine.acceptOne(receiver, at)));
  await Promise.all(ids.map((id) => engine.settle(id, NOW + 10_000, status)));
  let count = 0;
  const create = async (more: Partial<NewReplay> = {}) => {
    const id = `rpl_${receiver.group}_${count++}`;
    const facts = { since: NOW - 1_000_000, until: LATER, statuses: ['failed', 'canceled'] as const, createdAt: LATER };
    expect(await engine.replays.create(receiver.workspaceId, { id, endpointId: receiver.id, ...facts, ...more })).toBe(
      'created',
    );
    return id;
  };
  const waiting = engine.keys.queue.waiting(receiver.group);
  return {
    receiver,
    ids,
    create,
    waiting,
    findWaiting: () => engine.waitingFor(receiver.group),
    /** Steps until it ends, emptying the group as workers would; returns how often each was let in. */
    async carryOn(id: string, workers = [engine.worker]) {
      const lets = new Map<string, number>();
      for (let step = 0; step < 1_000; step++) {
        const replies = await Promise.all(workers.map(({ steps }) => steps.step(id, LATER + step)));
        for (const each of await engine.redis.zrange(waiting, 0, '-1')) lets.set(each, (lets.get(each) ?? 0) + 1);
        await engine.redis.del(waiting);
        if (replies.some(({ kind }) => kind === 'ended')) return lets;
      }
      throw new Error('it never ended');
    },
    find: (id: string) => engine.replays.find(receiver.workspaceId, id),
  };
}

test.each([
  { spread: 'one after the other', times: range(350).map((index) => NOW + index) },
  { spread: 'all within one millisecond', times: range(350).map(() => NOW) },
  { spread: 'in heaps larger than a step', times: range(90).map((index) => NOW + Math.floor(index / 30)) },
  { spread: 'exactly one step', times: range(REPLAY_STEP).map((index) => NOW + index) },
])('sets each pending exactly once, accepted $spread, with two workers that step at once', async ({ times }) => {
  const { ids, create, carryOn, find } = await prepare(times);
  const id = await create();
  expect(await find(id)).toMatchObject({ status: 'running', total: ids.length, seen: 0, replayed: 0 });
  const lets = await carryOn(id, [engine.worker, engine.otherWorker, engine.worker, engine.otherWorker]);
  expect(lets).toEqual(new Map(ids.map((each) => [each, 1])));
  expect(new Set(await Promise.all(ids.map(engine.statusOf)))).toEqual(new Set(['pending']));
  const counts = { total: ids.length, seen: ids.length, replayed: ids.length };
  expect(await find(id)).toMatchObject({ status: 'done', endedAt: expect.any(Number) as number, ...counts });
  expect(await engine.redis.zscore(engine.keys.replays, id)).toBeNull();
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'ended' });
  expect(await find(id)).toMatchObject(counts);
});

test('starts the schedule anew, and leaves the log of attempts as it was', async () => {
  const { ids, create, carryOn } = await prepare([NOW]);
  const [id = ''] = ids;
  await carryOn(await create());
  const { delivery } = await engine.load(id);
  expect(delivery).toMatchObject({
    status: 'pending',
    tries: 0,
    scheduledAt: LATER,
    nextAttemptAt: LATER,
    createdAt: NOW,
  });
  expect(delivery.reason).toBeUndefined();
  expect(delivery.settledAt).toBeUndefined();
  expect(await readAttempts(engine.redis, engine.keys, id)).toHaveLength(1);
  await engine.settle(id, LATER + 5, 'delivered');
  expect(await engine.statusOf(id)).toBe('delivered');
  expect(await engine.redis.hget(engine.keys.transition(delivery.transitionId), 'open')).toBe('0');
});

test('takes only what was accepted in its time and has one of its statuses', async () => {
  const { receiver, ids, create, findWaiting } = await prepare(range(6).map((index) => NOW + index * 10));
  await engine.worker.steps.step(await create({ since: NOW + 10, until: NOW + 40 }), LATER);
  const inTime = ids.slice(1, 4);
  expect((await findWaiting()).sort()).toEqual([...inTime].sort());

  const delivered = await engine.acceptOne(receiver, NOW + 60);
  await engine.settle(delivered, NOW + 61, 'delivered');
  const pending = await engine.acceptOne(receiver, NOW + 62);
  await engine.redis.del(engine.keys.queue.waiting(receiver.group));
  const replay = await create({ statuses: ['delivered'] });
  await engine.worker.steps.step(replay, LATER);
  expect(await findWaiting()).toEqual([delivered]);
  expect(await engine.statusOf(pending)).toBe('pending');
});

test('one that was delivered stays so, at its time, whatever its attempt comes to, and gets one at a time', async () => {
  const { receiver, ids, create, find, findWaiting } = await prepare([NOW, NOW + 1], 'delivered');
  const [id = '', other = ''] = ids;
  const facts = { status: 'delivered', tries: 1, settledAt: NOW + 10_000 };
  await engine.worker.steps.step(await create({ statuses: ['delivered'] }), LATER);
  const twice = await create({ statuses: ['delivered'] });
  await engine.worker.steps.step(twice, LATER);
  expect(await find(twice)).toMatchObject({ status: 'done', seen: 2, replayed: 0 });
  expect(await findWaiting()).toEqual([...ids].sort());
  expect((await engine.load(id)).delivery).toMatchObject({ ...facts, owedAttempts: 1 });
  expect(await engine.redis.pttl(engine.keys.delivery(id))).toBe(-1);
  await engine.redis.del(engine.keys.queue.waiting(receiver.group));
  await engine.settle(id, LATER + 5, 'failed');
  await engine.settle(other, LATER + 6, 'delivered');
  for (const each of ids) {
    const { delivery } = await engine.load(each);
    expect(delivery).toMatchObject({ ...facts, owedAttempts: 0 });
    expect(delivery.nextAttemptAt).toBeUndefined();
    expect(await readAttempts(engine.redis, engine.keys, each)).toHaveLength(2);
    await expectTtl(engine.redis, engine.keys.delivery(each), RETENTION_MS);
  }
});

test('of those that were delivered and replayed, the ones whose last attempt failed can be replayed alone', async () => {
  const { ids, create, find } = await prepare([NOW, NOW + 1, NOW + 2, NOW + 3], 'delivered');
  const [busy = '', away = ''] = ids;
  await engine.worker.steps.step(await create({ statuses: ['delivered'] }), LATER);
  const outcomes = [{ status: 503 }, { error: 'connection_refused' }, { status: 200 }, { status: 200 }];
  for (const [index, id] of ids.entries()) {
    const attempt = { at: LATER + index, durationMs: 5, ...outcomes[index] };
    const verdict = index < 2 ? ({ kind: 'retry', at: LATER + 60_000 } as const) : ({ kind: 'delivered' } as const);
    await engine.record(id, { now: LATER + index, attempt, verdict, answered: true });
    expect((await engine.load(id)).delivery).toMatchObject({ status: 'delivered', owedAttempts: 0 });
  }
  const owed = async () => {
    const deliveries = await Promise.all(ids.map((id) => engine.load(id)));
    return deliveries.filter(({ delivery }) => delivery.owedAttempts > 0).map(({ delivery }) => delivery.id);
  };
  const repeat = await create({ statuses: ['delivered'], httpStatus: '5xx' });
  await engine.worker.steps.step(repeat, LATER + 10);
  expect(await find(repeat)).toMatchObject({ seen: 4, replayed: 1 });
  expect(await owed()).toEqual([busy]);
  await engine.worker.steps.step(await create({ statuses: ['delivered'], error: 'connection_refused' }), LATER + 11);
  expect(await owed()).toEqual([busy, away]);
  // Who succeeded meanwhile is none of them.
  await engine.record(busy, { now: LATER + 20, attempt: { at: LATER + 20, durationMs: 5, status: 200 } });
  await engine.worker.steps.step(await create({ statuses: ['delivered'], httpStatus: '5xx' }), LATER + 21);
  expect(await owed()).toEqual([away]);
});

test('one that is pending gets an attempt now, once, and its schedule stays as it is', async () => {
  const { receiver, create, carryOn, find, findWaiting } = await prepare([]);
  const [waits, isOwed] = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW + 1)];
  const inFiveHours = LATER + 18_000_000;
  for (const id of [waits, isOwed]) {
    await engine.redis.hset(engine.keys.delivery(id), 'n', 3, 'due', inFiveHours);
    await engine.redis.zadd(engine.keys.queue.waiting(receiver.group), inFiveHours, id);
  }
  await engine.redis.hset(engine.keys.delivery(isOwed), 'owe', 2);
  const replay = await create({ statuses: ['pending'] });
  await engine.worker.steps.step(replay, LATER);
  expect(await find(replay)).toMatchObject({ status: 'done', seen: 2, replayed: 1 });
  expect((await engine.load(waits)).delivery).toMatchObject({ status: 'pending', tries: 3, owedAttempts: 1 });
  expect(await engine.redis.hget(engine.keys.delivery(waits), 'due')).toBe(String(inFiveHours));
  expect(await engine.redis.hget(engine.keys.delivery(isOwed), 'owe')).toBe('2');
  expect(await findWaiting()).toEqual([isOwed, waits]);
  await carryOn(await create({ statuses: ['pending'] }));
  expect(await engine.redis.hget(engine.keys.delivery(waits), 'owe')).toBe('1');
});

test('what is due is left to go by itself, but of a receiver that is held the first goes at once', async () => {
  const { receiver, create, find } = await prepare([]);
  const ids = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW + 1)];
  const classOf = async (id = '') =>
    Math.floor(Number(await engine.redis.zscore(engine.keys.queue.waiting(receiver.group), id)) / 1e13);
  const free = await create({ statuses: ['pending'] });
  await engine.worker.steps.step(free, LATER);
  expect(await find(free)).toMatchObject({ status: 'done', seen: 2, replayed: 0 });
  await engine.redis.hset(engine.keys.queue.group(receiver.group), 'hold', LATER + 3_600_000, 'holdAt', NOW);
  const held = await create({ statuses: ['pending'] });
  await engine.worker.steps.step(held, LATER);
  expect(await find(held)).toMatchObject({ status: 'done', seen: 2, replayed: 1 });
  expect(await Promise.all(ids.map(classOf))).toEqual([0, 1]);
});

test('takes only those of its event, and of its error or status', async () => {
  const { ids, create, find } = await prepare(range(4).map((index) => NOW + index));
  const [reset = '', refused = '', busy = '', gone = ''] = ids.map((id) => engine.keys.delivery(id));
  await engine.redis.del(...ids.map((id) => engine.keys.attempts(id)));
  await engine.redis.hset(reset, 'a', '1 2 connection_reset');
  await engine.redis.hset(refused, 'a', '1 2 connection_refused AAAAAAAAAA');
  await engine.redis.hset(busy, 'a', '1 2 503 AAAAAAAAAA', 'why', 'too_old');
  await engine.redis.hset(gone, 'a', '1 2 503');
  await engine.redis.rpush(`${gone}:a`, '{"at":1,"durationMs":2,"status":410}');
  for (const [what, expected] of [
    [{ error: 'connection_reset' }, 1],
    [{ httpStatus: '502' }, 0],
    [{ httpStatus: '503', error: 'too_old' }, 1],
    [{ httpStatus: '4xx' }, 1],
    [{ event: 'task.canceled' as const }, 0],
    [{ httpStatus: '5xx', error: 'connection_refused' }, 0],
    [{ error: 'connection_refused' }, 1],
  ] as const) {
    const replay = await create(what);
    await engine.worker.steps.step(replay, LATER);
    expect(await find(replay)).toMatchObject({ ...what, seen: 4, replayed: expected });
  }
});

test('a step looks at so many deliveries, however many were accepted in one millisecond', async () => {
  const { create, waiting, find } = await prepare(range(70).map(() => NOW));
  const id = await create();
  for (const seen of [1, 2, 3, 3.5].map((steps) => steps * REPLAY_STEP)) {
    await engine.worker.steps.step(id, LATER);
    await engine.redis.del(waiting);
    expect(await find(id)).toMatchObject({ seen, replayed: seen });
  }
});

test('two replays of the same range let each in once', async () => {
  const { ids, create, carryOn } = await prepare(range(30).map((index) => NOW + index));
  const [first, second] = [await create(), await create()];
  expect((await carryOn(first)).size).toBe(ids.length);
  expect((await carryOn(second)).size).toBe(0);
  expect(await engine.replays.find('ws_other', first)).toBeUndefined();
});

test('waits while many wait for the group, and goes on when they are few', async () => {
  const { create, waiting, find } = await prepare(range(120).map((index) => NOW + index));
  const others = range(501).flatMap((index) => [1, `dlv_other${index}`]);
  await engine.redis.zadd(waiting, ...others);
  const id = await create();
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'wait' });
  expect(await find(id)).toMatchObject({ status: 'running', seen: 0 });
  await engine.redis.zrem(waiting, 'dlv_other0');
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'stepped' });
  expect(await find(id)).toMatchObject({ seen: REPLAY_STEP });
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'wait' });
});

test.each(['disabled', 'removed'])('stops when its receiver is %s meanwhile', async (how) => {
  const { receiver, create, find } = await prepare(range(30).map((index) => NOW + index));
  const id = await create();
  await engine.worker.steps.step(id, LATER);
  const { workspaceId } = receiver;
  if (how === 'removed') await engine.stores.receivers.remove(workspaceId, receiver.id, LATER);
  else await engine.stores.receivers.patch(workspaceId, receiver.id, { enabled: false }, LATER);
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'ended' });
  expect(await find(id)).toMatchObject({ status: 'stopped', seen: REPLAY_STEP, replayed: REPLAY_STEP });
});

test('a stop by request leaves what it has not reached, and is not undone by a worker', async () => {
  const { receiver, ids, create, find } = await prepare(range(30).map((index) => NOW + index));
  const id = await create();
  await engine.worker.steps.step(id, LATER);
  expect(await engine.replays.stop('ws_other', id, LATER)).toBe(false);
  expect(await engine.replays.stop(receiver.workspaceId, id, LATER)).toBe(true);
  expect(await engine.replays.stop(receiver.workspaceId, id, LATER + 1)).toBe(true);
  expect(await engine.worker.steps.step(id, LATER)).toMatchObject({ kind: 'ended' });
  expect(await find(id)).toMatchObject({ status: 'stopped', endedAt: LATER, replayed: REPLAY_STEP });
  const statuses = await Promise.all(ids.map(engine.statusOf));
  expect(statuses.filter((status) => status === 'failed')).toHaveLength(10);
});

test('leaves out a test event, and what is gone', async () => {
  const { receiver, ids, create, findWaiting } = await prepare([NOW, NOW + 1, NOW + 2]);
  const transitionId = newTestTransitionId();
  const test = { transitionId, deliveryId: deliveryIdOf(transitionId, receiver.id), endpointId: receiver.id };
  const { workspaceId } = receiver;
  await engine.stores.testEvents.create({ ...test, workspaceId, body: '{}', createdAt: NOW + 3 });
  await engine.worker.deliveries.cancel(test.deliveryId, 'not_sent_in_time', NOW + 4);
  const [first = '', second = '', third = ''] = ids;
  await engine.redis.del(engine.keys.delivery(first));
  await engine.redis.del(engine.keys.transition((await engine.load(second)).delivery.transitionId));
  await engine.worker.steps.step(await create(), LATER);
  expect(await findWaiting()).toEqual([third]);
});

test('a replay under way is taken on by one worker at a time', async () => {
  const { create } = await prepare([NOW]);
  const id = await create();
  const claims = await Promise.all(
    range(6).map((index) => (index % 2 ? engine.worker : engine.otherWorker).steps.claim(LATER, LATER + 100, 100)),
  );
  expect(claims.flat().filter((each) => each === id)).toEqual([id]);
  expect(await engine.worker.steps.claim(LATER + 99, LATER + 200, 100)).not.toContain(id);
  expect(await engine.otherWorker.steps.claim(LATER + 100, LATER + 200, 100)).toContain(id);
});

test('only a receiver of one’s own that is enabled can be replayed', async () => {
  const { receiver } = await prepare([NOW]);
  const replay = {
    id: 'rpl_x',
    endpointId: receiver.id,
    since: 0,
    until: LATER,
    statuses: ['failed'],
    createdAt: LATER,
  } as const;
  expect(await engine.replays.create('ws_other', replay)).toBe('missing');
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, LATER);
  expect(await engine.replays.create(receiver.workspaceId, replay)).toBe('disabled');
  expect(await engine.redis.exists(engine.keys.replay('rpl_x'))).toBe(0);
});

test('a replay that is asked for again under the same id goes on as it was, also when the receiver is disabled since', async () => {
  const { receiver, create, carryOn, find } = await prepare([NOW]);
  const id = await create();
  await carryOn(id);
  const done = await find(id);
  expect(done).toMatchObject({ status: 'done', replayed: 1 });
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, LATER);
  const again = {
    id,
    endpointId: receiver.id,
    since: 0,
    until: LATER,
    statuses: ['failed'],
    createdAt: LATER,
  } as const;
  expect(await engine.replays.create(receiver.workspaceId, again)).toBe('created');
  expect(await find(id)).toEqual(done);
});

test('ten replays of a workspace are under way at most, also when many are asked for at once; one that ended makes room', async () => {
  const { receiver, carryOn, find } = await prepare([NOW]);
  const ask = (index: number, workspaceId = receiver.workspaceId, endpointId = receiver.id) =>
    engine.replays.create(workspaceId, {
      id: `rpl_${receiver.group}_many${index}`,
      endpointId,
      since: NOW,
      until: LATER,
      statuses: ['failed'],
      createdAt: LATER + index,
    });
  const replies = await Promise.all(range(25).map((index) => ask(index)));
  const created = range(25).filter((index) => replies[index] === 'created');
  expect(created).toHaveLength(10);
  expect(new Set(replies)).toEqual(new Set(['created', 'full']));
  expect(await find(`rpl_${receiver.group}_many${replies.indexOf('full')}`)).toBeUndefined();
  const other = await engine.register();
  expect(await ask(100, other.workspaceId, other.id)).toBe('created');
  const [first = 0, second = 0] = created;
  await carryOn(`rpl_${receiver.group}_many${first}`);
  await engine.replays.stop(receiver.workspaceId, `rpl_${receiver.group}_many${second}`, LATER);
  expect(await Promise.all([101, 102, 103].map((index) => ask(index)))).toEqual(['created', 'created', 'full']);
  // The two that ended are kept beside the ten.
  expect(await engine.redis.zcard(engine.keys.workspaceReplays(receiver.workspaceId))).toBe(12);
});

test('of those that ended the last hundred of a workspace are kept, however many are asked for', async () => {
  const { receiver, create, find } = await prepare([NOW]);
  const made: string[] = [];
  for (const index of range(130)) {
    made.push(await create({ createdAt: LATER + index }));
    await engine.replays.stop(receiver.workspaceId, made.at(-1) ?? '', LATER);
  }
  const kept = await Promise.all(made.map(find));
  expect(kept.map((replay) => replay !== undefined)).toEqual(range(130).map((index) => index >= 29));
  expect(await engine.redis.zcard(engine.keys.workspaceReplays(receiver.workspaceId))).toBe(101);
});

test('a replay waits while its workspace is full, says of what, and goes on when there is room', async () => {
  const { receiver, ids, create, find } = await prepare(range(30).map((index) => NOW + index));
  const id = await create();
  const { workspaceId } = receiver;
  const createBounded = (pending: number, findRefusal?: () => UnavailableError) =>
    createReplaySteps({
      redis: engine.redis,
      keys: engine.keys,
      keepMs: 1_000,
      limits: { pending, bytes: 0 },
      ...(findRefusal && { findRefusal }),
    });
  const steps = createBounded(24);
  const stepTwice = async (bounded: ReplaySteps) => [await bounded.step(id, LATER), await bounded.step(id, LATER)];
  const readPending = async () => Number(await engine.redis.zscore(engine.keys.pending, workspaceId));

  expect(await createBounded(0, () => new UnavailableError('full')).step(id, LATER)).toEqual({
    kind: 'wait',
    replayed: 0,
  });
  expect(await find(id)).toMatchObject({ status: 'running', seen: 0, fullOf: 'memory' });
  expect(await stepTwice(steps)).toEqual([
    { kind: 'stepped', replayed: REPLAY_STEP },
    { kind: 'wait', replayed: 4 },
  ]);
  expect(await find(id)).toMatchObject({ status: 'running', seen: 24, replayed: 24, fullOf: 'pending' });
  expect(await stepTwice(steps)).toEqual([
    { kind: 'wait', replayed: 0 },
    { kind: 'wait', replayed: 0 },
  ]);
  expect(await readPending()).toBe(24);
  for (const each of ids.slice(0, 2)) await engine.worker.deliveries.cancel(each, 'receiver_disabled', LATER);
  expect(await steps.step(id, LATER)).toEqual({ kind: 'wait', replayed: 2 });
  expect(await createBounded(0).step(id, LATER)).toEqual({ kind: 'ended', replayed: 4 });
  const ended = await find(id);
  expect(ended).toMatchObject({ status: 'done', total: 30, seen: 30, replayed: 30 });
  expect(ended).not.toHaveProperty('fullOf');
  expect(await readPending()).toBe(28);
});
