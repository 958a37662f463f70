import {
  deliveryIdOf,
  transitionIdOfFact,
  UnavailableError,
  type AttemptVerdict,
  type Decision,
  type Task,
  type TransitionId,
} from '@herald/core';
import { createDeliveryRetention, type LoadReply } from '@herald/store/deliveries/delivery-record';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { writeFactValue } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { newRevision } from '@herald/store/redis/random-token';
import type { RecordChange } from '@herald/store/tasks/task-record';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { findFaults } from '../queue/read-queue.ts';
import { expectTtl } from '../../support/expect-ttl.ts';
import { dumpRedis, toText } from '../../support/redis-dump.ts';
import { buildTask } from '../../support/start-stores.ts';
import { range, RETENTION_MS, startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
/** When everything that was accepted is due. */
const LATER = NOW + 600_000;
/** Stands in everything that is content, and in nothing else. */
const CANARY = 'canary';
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });
const answered = (at: number, status: number) => ({
  at,
  durationMs: 3,
  status,
  answer: `${CANARY} answer`,
  headers: { location: `${CANARY} header` },
});

const eraserOn = (redis: RedisClient) =>
  createPayloadEraser({ redis, keyspace: engine.stores.keyspace, retention: createDeliveryRetention(RETENTION_MS) });

const holdsContent = async () => toText(await dumpRedis(engine.redis)).includes(CANARY);

/** A Task that holds content wherever a Task can, with so many check-ins to the receivers, done unless told otherwise. */
async function emitAll(receivers: readonly Receiver[], checkIns: number, isClosed = true) {
  const { stores } = engine;
  const workspaceId = receivers[0]?.workspaceId ?? '';
  let task: Task = buildTask(workspaceId, { createdAt: NOW, status: 'requires_action', input: { text: CANARY } });
  await stores.tasks.create(task);
  await stores.tasks.addMessage(workspaceId, task.id, { id: 'm', text: `${CANARY} message`, createdAt: NOW });
  const decision: Decision = { approvalId: 'pay', actionVersion: 1, decision: `${CANARY} yes`, decidedAt: NOW };
  await stores.tasks.resolve(task, decision, 'running');
  const { version } = await stores.receivers.findSubscriptions(workspaceId);
  const transitionIds: TransitionId[] = [];
  const commit = async (factKey: string, event: 'task.check_in' | 'task.done', change: RecordChange) => {
    const found = await stores.tasks.find(workspaceId, task.id);
    if (!found) throw new Error('the Task is there');
    task = found;
    const transitionId = transitionIdOfFact(task.id, factKey) ?? '';
    transitionIds.push(transitionId);
    const targets = receivers.map(({ id }) => ({ endpointId: id, enabled: true }));
    await stores.transitions.commit({
      task,
      newRevision: newRevision(),
      subscriptionVersion: version,
      now: NOW,
      change,
      factKey,
      emission: { transitionId, event, body: `{"a":"${CANARY} body"}`, targets },
    });
  };
  const outcome = { summary: `${CANARY} outcome` };
  for (const index of range(checkIns)) {
    const checkpoint = { checkpointId: `c${index}`, canonical: true, material: true, at: NOW, outcome };
    await commit(`checkpoint:c${index}`, 'task.check_in', { status: 'running', sequence: index + 1, checkpoint });
  }
  const result = { text: `${CANARY} result` };
  if (isClosed) {
    const change = { status: 'done', sequence: checkIns + 1, result, outcome, usage: { tokens: 7 } } as const;
    await commit('done', 'task.done', change);
  }
  const deliveriesOf = ({ id }: { readonly id: string }) => transitionIds.map((each) => deliveryIdOf(each, id));
  return { taskId: task.id, workspaceId, deliveriesOf };
}

test('nothing of the content is left in any key, and what was delivered stays as a fact', async () => {
  const receiver = await engine.register();
  const { taskId, workspaceId, deliveriesOf } = await emitAll([receiver], 2);
  const [delivered = '', failed = '', waiting = ''] = deliveriesOf(receiver);
  await engine.record(delivered, { now: NOW, attempt: answered(NOW, 200) });
  await engine.record(failed, { now: NOW, verdict: retryAt(NOW + 1), attempt: answered(NOW, 500), answered: true });
  const isLast = { verdict: { kind: 'failed', reason: 'schedule_exhausted' }, answered: true } as const;
  await engine.record(failed, { now: NOW + 1, ...isLast, attempt: answered(NOW + 1, 502) });
  await engine.record(waiting, { now: NOW, verdict: retryAt(NOW + 9), attempt: answered(NOW, 503), answered: true });
  expect(await holdsContent()).toBe(true);

  const reply = await eraserOn(engine.redis).erase(workspaceId, taskId, NOW + 10);
  expect(reply).toEqual({ kind: 'erased', erasedAt: NOW + 10, canceled: [{ event: 'task.done', count: 1 }] });
  expect(await holdsContent()).toBe(false);

  expect(await engine.log.find(workspaceId, delivered)).toMatchObject({
    delivery: { status: 'delivered', event: 'task.check_in', erasedAt: NOW + 10 },
    attempts: [{ at: NOW, durationMs: 3, status: 200 }],
  });
  // The first in its record, the second in its list.
  expect(await engine.log.find(workspaceId, failed)).toMatchObject({
    delivery: { status: 'failed' },
    attempts: [
      { at: NOW, durationMs: 3, status: 500 },
      { at: NOW + 1, durationMs: 3, status: 502 },
    ],
  });
  expect(await engine.log.find(workspaceId, waiting)).toMatchObject({
    delivery: { status: 'canceled', reason: 'payload_erased', tries: 1 },
  });
  const task = await engine.stores.tasks.find(workspaceId, taskId);
  expect(task).toMatchObject({ status: 'done', sequence: 3, usage: { tokens: 7 }, erasedAt: NOW + 10 });
  expect(Object.keys(task ?? {})).not.toEqual(expect.arrayContaining(['input']));
  expect(await engine.waitingFor(receiver.group)).toEqual([]);
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
});

test('an erasure that is repeated changes nothing, and keeps its time', async () => {
  const receiver = await engine.register();
  const { taskId, workspaceId } = await emitAll([receiver], 1);
  const eraser = eraserOn(engine.redis);
  await eraser.erase(workspaceId, taskId, NOW + 10);
  const before = await dumpRedis(engine.redis);
  expect(await eraser.erase(workspaceId, taskId, NOW + 20)).toEqual({
    kind: 'erased',
    erasedAt: NOW + 10,
    canceled: [],
  });
  expect(await dumpRedis(engine.redis)).toEqual(before);
});

test('a Task that is not closed, or another workspace’s, keeps all', async () => {
  const receiver = await engine.register();
  const { taskId, workspaceId } = await emitAll([receiver], 1, false);
  const before = await dumpRedis(engine.redis);
  const eraser = eraserOn(engine.redis);
  expect(await eraser.erase(workspaceId, taskId, NOW)).toEqual({ kind: 'open', status: 'running' });
  expect(await eraser.erase('ws_other', taskId, NOW)).toEqual({ kind: 'missing' });
  expect(await dumpRedis(engine.redis)).toEqual(before);
});

describe('a delivery that is in work meanwhile', () => {
  test.each<{ comes: string; status: number; verdict: AttemptVerdict; isRemoved?: true; ends: object }>([
    { comes: 'arrives', status: 200, verdict: { kind: 'delivered' }, ends: { status: 'delivered' } },
    {
      comes: 'is refused',
      status: 500,
      verdict: retryAt(NOW + 99),
      ends: { status: 'canceled', reason: 'payload_erased' },
    },
    // As a workspace is erased.
    {
      comes: 'arrives, its receiver removed before,',
      status: 200,
      verdict: { kind: 'delivered' },
      isRemoved: true,
      ends: { status: 'delivered' },
    },
    {
      comes: 'is refused, its receiver removed before,',
      status: 500,
      verdict: retryAt(NOW + 99),
      isRemoved: true,
      ends: { status: 'canceled' },
    },
  ])('and $comes is one try, recorded without its answer, and not sent again', async (scene) => {
    const { status, verdict, isRemoved, ends } = scene;
    const receiver = await engine.register();
    const { taskId, workspaceId, deliveriesOf } = await emitAll([receiver], 0);
    const [id = ''] = deliveriesOf(receiver);
    const [reserved] = await engine.worker.reserve(LATER);
    if (!reserved) throw new Error('it is due');
    const { delivery, group } = await engine.load(id);
    if (isRemoved) await engine.stores.receivers.remove(workspaceId, receiver.id, NOW + 5);
    await eraserOn(engine.redis).erase(workspaceId, taskId, NOW + 10);
    const record = {
      delivery,
      group,
      attempt: answered(NOW, status),
      verdict,
      now: NOW + 20,
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: false,
      groupLimit: 10,
      lease: reserved.handle,
    };
    await engine.worker.deliveries.record(record);
    // As if the reply had been lost.
    await engine.worker.deliveries.record(record);
    expect(await holdsContent()).toBe(false);
    expect(await engine.log.find(workspaceId, id)).toMatchObject({
      delivery: { ...ends, tries: 1 },
      attempts: [{ at: NOW, durationMs: 3, status }],
    });
    expect(await engine.leases.isQueued(id)).toBe(false);
  });

  test('and whose worker dies has left the queue', async () => {
    const receiver = await engine.register();
    const { taskId, workspaceId, deliveriesOf } = await emitAll([receiver], 0);
    const [id = ''] = deliveriesOf(receiver);
    await engine.worker.reserve(LATER);
    await eraserOn(engine.redis).erase(workspaceId, taskId, NOW + 10);
    expect(await engine.worker.recover(LATER + 60_000)).toContain(id);
    expect(await engine.leases.isQueued(id)).toBe(false);
  });
});

test('neither a redelivery nor a replay brings it back', async () => {
  const receiver = await engine.register();
  const { taskId, workspaceId, deliveriesOf } = await emitAll([receiver], 1);
  const [owed = '', other = ''] = deliveriesOf(receiver);
  await engine.settle(owed, NOW, 'failed');
  await engine.log.redeliver(workspaceId, owed, NOW);
  await eraserOn(engine.redis).erase(workspaceId, taskId, NOW + 10);
  expect(await engine.leases.isQueued(owed)).toBe(false);
  await expectTtl(engine.redis, engine.keys.delivery(owed), RETENTION_MS);
  expect(await engine.log.redeliver(workspaceId, owed, NOW + 20)).toEqual({ kind: 'erased' });
  const replay = { id: 'rpl_1', endpointId: receiver.id, since: 0, until: NOW + 99, createdAt: NOW };
  await engine.replays.create(workspaceId, { ...replay, statuses: ['failed', 'canceled'] });
  expect(await engine.worker.steps.step('rpl_1', NOW + 30)).toEqual({ kind: 'ended', replayed: 0 });
  expect([await engine.statusOf(owed), await engine.statusOf(other)]).toEqual(['failed', 'canceled']);
});

/** A client whose process dies before its n-th step, each of which is a script: that and all after it never reach Redis. */
function dyingAt(redis: RedisClient, dieAt: number): RedisClient {
  let steps = 0;
  return new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name === 'evalsha' && ++steps >= dieAt) return Promise.reject(new Error('killed'));
        return Reflect.apply(value, target, args);
      };
    },
  });
}

test('whatever happens to deliveries meanwhile, nothing of erased Tasks is left, and nothing of them is sent again', async () => {
  const receivers = [await engine.register()];
  const { workspaceId = '' } = receivers[0] ?? {};
  receivers.push(await engine.register({ workspaceId, url: 'https://b.example.com/in' }));
  let seed = 11;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const [tasks, ids, inWork]: [string[], string[], Reserved[]] = [[], [], []];
  const eraser = eraserOn(engine.redis);
  const recordInWork = async ({ handle, loaded }: Reserved, now: number) => {
    const read = loaded as LoadReply;
    if (read.kind !== 'loaded' || !read.endpoint) throw new Error('it was there when it was reserved');
    const { delivery, endpoint } = read;
    await engine.worker.deliveries.record({
      delivery,
      group: endpoint.group,
      attempt: answered(now, 500),
      verdict: random(2) === 0 ? { kind: 'delivered' } : retryAt(now + 1),
      now,
      answered: true,
      gone: false,
      isProbe: false,
      isRedelivery: delivery.owedAttempts > 0,
      groupLimit: 10,
      lease: handle,
    });
  };
  for (const step of range(250)) {
    const now = LATER + step;
    const id = ids[random(Math.max(1, ids.length))];
    const choice = random(8);
    if (id === undefined || choice === 0) {
      const { taskId, deliveriesOf } = await emitAll(receivers, 1);
      tasks.push(taskId);
      ids.push(...receivers.flatMap(deliveriesOf));
    } else if (choice < 3) {
      inWork.push(
        ...(await engine.worker.reserve(now, 2)).filter(({ loaded }) => (loaded as LoadReply).kind === 'loaded'),
      );
    } else if (choice < 5) {
      const reserved = inWork.splice(random(Math.max(1, inWork.length)), 1)[0];
      if (reserved) await recordInWork(reserved, now);
    } else if (choice === 5) {
      await engine.log.redeliver(workspaceId, id, now);
    } else if (choice === 6) {
      const replay = {
        id: `rpl_${step}`,
        endpointId: receivers[random(2)]?.id ?? '',
        since: 0,
        until: now,
        createdAt: now,
      };
      await engine.replays.create(workspaceId, { ...replay, statuses: ['delivered', 'canceled'] });
      await engine.worker.steps.step(replay.id, now);
    } else {
      await eraser.erase(workspaceId, tasks[random(tasks.length)] ?? '', now);
    }
  }
  for (const taskId of tasks) await eraser.erase(workspaceId, taskId, LATER + 1_000);
  for (const reserved of inWork) await recordInWork(reserved, LATER + 2_000);
  expect(await holdsContent()).toBe(false);
  const left = await engine.otherWorker.reserve(LATER + 3_000, 1_000);
  expect(left.filter(({ loaded }) => (loaded as LoadReply).kind !== 'ended')).toEqual([]);
  for (const each of left) await engine.otherWorker.finish(each, LATER + 3_000);
  expect(await findFaults({ redis: engine.redis, keys: engine.keys.queue })).toEqual([]);
  for (const id of ids) {
    expect(['delivered', 'canceled']).toContain(await engine.statusOf(id));
    await expectTtl(engine.redis, engine.keys.delivery(id), RETENTION_MS);
  }
});

// An erasure takes twenty transitions at a time.
test.each([1, 19, 20, 21, 40])('an erasure of %i transitions notes the last one', async (count) => {
  const receiver = await engine.register();
  const { taskId, workspaceId } = await emitAll([receiver], count - 1);
  expect(await eraserOn(engine.redis).erase(workspaceId, taskId, NOW + 10)).toMatchObject({ kind: 'erased' });
  expect(await engine.redis.hget(engine.keys.task(taskId), 'erasedTo')).toBe(String(count));
});

test('an erasure passes over checkpoints that emitted nothing', async () => {
  const receiver = await engine.register();
  const { taskId, workspaceId } = await emitAll([receiver], 1);
  const draft = writeFactValue({ sequence: 0, digest: '1234567' });
  const drafts = range(50).flatMap((index) => [`checkpoint:draft${index}`, draft]);
  await engine.redis.hset(engine.keys.facts(taskId), ...drafts);
  await engine.redis.hset(engine.keys.facts(taskId), 'done', writeFactValue({ sequence: 2, digest: '7654321' }));
  // The Task, a transition and its answers twice, and the note.
  const reply = await eraserOn(dyingAt(engine.redis, 7)).erase(workspaceId, taskId, NOW + 10);
  expect(reply).toMatchObject({ kind: 'erased' });
  expect(await engine.redis.hget(engine.keys.task(taskId), 'erasedTo')).toBe('2');
});

test.each([
  ['the Task', 1],
  ['a body', 2],
  ['the answers to it', 3],
  ['the progress', 4],
])(
  'an erasure whose step about %s too few replicas have is not answered, and done by the next one',
  async (_, step) => {
    const receiver = await engine.register();
    const { taskId, workspaceId } = await emitAll([receiver], 0);
    const { redis, stores } = engine;
    let asked = 0;
    const awaitReplication = () => Promise.resolve(++asked !== step);
    const deps = { redis, keyspace: stores.keyspace, retention: createDeliveryRetention(RETENTION_MS) };
    const eraser = createPayloadEraser({ ...deps, awaitReplication });
    await expect(eraser.erase(workspaceId, taskId, NOW + 10)).rejects.toThrow(UnavailableError);
    expect(await eraser.erase(workspaceId, taskId, NOW + 20)).toMatchObject({ kind: 'erased', erasedAt: NOW + 10 });
    expect(await holdsContent()).toBe(false);
  },
);

test.each([
  ['Redis does not have it', 1],
  ['a transition is being erased', 2],
  ['its body is gone', 3],
])('an erasure of a Task that only history has is not answered when too few replicas have that %s', async (_, step) => {
  const { redis, stores } = engine;
  let asked = 0;
  const awaitReplication = () => Promise.resolve(++asked !== step);
  const erased: string[] = [];
  const history = {
    listSequences: () => Promise.resolve([{ transitionId: transitionIdOfFact('tsk_1', 'done') ?? '', sequence: 1 }]),
    eraseTask: (_workspaceId: string, taskId: string) => Promise.resolve(erased.push(taskId) && NOW),
  };
  const deps = { redis, keyspace: stores.keyspace, retention: createDeliveryRetention(RETENTION_MS) };
  const eraser = createPayloadEraser({ ...deps, awaitReplication, history });
  await expect(eraser.erase('ws_1', 'tsk_1', NOW)).rejects.toThrow(UnavailableError);
  expect(erased).toEqual([]);
  expect(await eraser.erase('ws_1', 'tsk_1', NOW)).toMatchObject({ kind: 'erased' });
  expect(erased).toEqual(['tsk_1']);
});

test('an erasure that dies before any step is finished by the next one, which goes on where it was', async () => {
  const receivers = [await engine.register()];
  const { workspaceId } = receivers[0] ?? {};
  receivers.push(await engine.register({ ...(workspaceId !== undefined && { workspaceId }) }));
  const { taskId, ...task } = await emitAll(receivers, 44);
  // Each run dies one step later, and begins where the one before noted that it was.
  const runs = range(200).map((deaths) => eraserOn(dyingAt(engine.redis, deaths + 1)));
  let deaths = 0;
  for (const run of runs) {
    const reply = await run.erase(task.workspaceId, taskId, NOW + deaths).catch((error: unknown) => error);
    if (!(reply instanceof Error)) break;
    expect(reply.message).toBe('killed');
    deaths++;
  }
  // Fewer steps than a run from the start takes: 45 transitions with two deliveries each.
  expect(deaths).toBeGreaterThan(10);
  expect(deaths).toBeLessThan(1 + 45 * 3);
  expect(await holdsContent()).toBe(false);
  expect(await engine.redis.hget(engine.keys.task(taskId), 'erased')).toBe(String(NOW + 1));
  for (const id of receivers.flatMap(task.deliveriesOf)) expect(await engine.statusOf(id)).toBe('canceled');
});
