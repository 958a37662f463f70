import { callbackIdOf, type DeliveryId, type HistoryReader } from '@herald/core';
import { dropDeliveries } from '@herald/store/bulk/drop-deliveries';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createDeliveryLog } from '@herald/store/lists/delivery-log';
import { newRevision } from '@herald/store/redis/random-token';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { findAccountDifferences, mendAccounts } from '@herald/store/stats/recount-accounts';
import { RETENTION_MS, startEngine, type Engine } from './engine/start-engine.ts';
import { findAccountFaults } from './every-script/find-harm.ts';
import { buildReceiver, buildTask, newWorkspaceId } from '../support/start-stores.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());
beforeEach(() => engine.redis.flushall());

const NOW = Date.now();
const heldBy = async (workspaceId: string) => Number((await engine.redis.zscore(engine.keys.held, workspaceId)) ?? 0);
const expectRight = async () => {
  expect(await findAccountFaults(engine.redis, engine.keys)).toEqual([]);
};

/** A Task that is told of at a large URL, with large headers. */
async function createToldTask() {
  const workspaceId = newWorkspaceId();
  const bare = buildTask(workspaceId, { createdAt: NOW });
  const url = `https://hooks.example.com/${'x'.repeat(2_000)}`;
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(bare.id), url });
  const headers = { names: ['authorization'], encrypted: 'h'.repeat(5_500) };
  const task = { ...bare, callback };
  await engine.stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'k1.encrypted', headers });
  return { workspaceId, task, callback };
}

test('a callback counts with its URL and headers, as they are now, until it leaves after its Task', async () => {
  const { redis, keys, stores } = engine;
  const { workspaceId, task, callback } = await createToldTask();
  const created = await heldBy(workspaceId);
  expect(created).toBeGreaterThan(11_000);
  await expectRight();

  const callbacks = createCallbackStore(stores);
  await callbacks.patch(workspaceId, callback.id, { headers: { names: [], encrypted: '' } }, NOW);
  expect(await heldBy(workspaceId)).toBeLessThan(created - 5_000);
  await expectRight();
  await callbacks.patch(workspaceId, callback.id, { headers: { names: ['x'], encrypted: 'h'.repeat(3_000) } }, NOW);
  await expectRight();
  // The headers go with the origin.
  await callbacks.patch(workspaceId, callback.id, { url: 'https://moved.example.com/' }, NOW);
  expect(await heldBy(workspaceId)).toBeLessThan(3_000);
  await expectRight();

  const { revision = '' } = (await stores.tasks.find(workspaceId, task.id)) ?? {};
  const { version } = await stores.receivers.findSubscriptions(workspaceId);
  const change = { status: 'done', sequence: 1 } as const;
  const commit = { task: { ...task, revision }, newRevision: newRevision(), subscriptionVersion: version, now: NOW };
  expect(await stores.transitions.commit({ ...commit, change, factKey: 'done' })).toMatchObject({ kind: 'accepted' });
  await expectRight();
  const ends = await Promise.all([keys.endpoint(callback.id), keys.task(task.id)].map((key) => redis.pexpiretime(key)));
  const times = Object.keys(await redis.hgetall(keys.workspaceLeaving(workspaceId)));
  expect(times.map(Number).sort()).toEqual(ends.toSorted());
});

test('no workspace may have a Task whose callback is too large for it', async () => {
  const { stores } = engine;
  const { workspaceId } = await createToldTask();
  const held = await heldBy(workspaceId);
  const limited = createTaskStore({
    redis: stores.redis,
    keyspace: stores.keyspace,
    retention: createTaskRetention(60_000),
    limits: { pending: 0, bytes: held + 2_500 },
  });
  const task = buildTask(workspaceId);
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id) });
  const headers = { names: ['x'], encrypted: 'h'.repeat(1_000) };
  const refused = limited.create({ ...task, callback }, { endpoint: callback, encryptedSecret: 'k1.x', headers });
  await expect(refused).rejects.toMatchObject({ code: 'workspace_full' });
  expect(await heldBy(workspaceId)).toBe(held);
  await limited.create(buildTask(workspaceId));
  await expectRight();
});

/** What a receiver may answer: each of its bytes takes six. */
const ANSWER = '\u0001'.repeat(1_024);
const ANSWER_BYTES = 6 * 1_024;

async function acceptOne() {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  return { workspaceId: receiver.workspaceId, id, accepted: await heldBy(receiver.workspaceId) };
}

/** Records so many attempts that failed with a large answer. */
async function fail(id: DeliveryId, count: number) {
  for (let at = NOW; at < NOW + count; at++) {
    const attempt = { at, durationMs: 1, status: 500, answer: ANSWER };
    await engine.record(id, { now: at, verdict: { kind: 'retry', at: at + 1 }, attempt });
  }
}

test('attempts count with their answers, at most fifty of a delivery', async () => {
  const { workspaceId, id, accepted } = await acceptOne();
  await fail(id, 52);
  const grown = (await heldBy(workspaceId)) - accepted;
  expect(grown).toBeGreaterThan(50 * ANSWER_BYTES);
  expect(grown).toBeLessThan(52 * ANSWER_BYTES);
  await engine.settle(id, NOW + 60, 'failed');
  await expectRight();
});

test('a first attempt that its record holds counts for nothing more', async () => {
  const { workspaceId, id, accepted } = await acceptOne();
  await engine.settle(id, NOW, 'delivered');
  expect(await heldBy(workspaceId)).toBe(accepted);
});

test('a purge gives back what the attempts of one receiver took, while the transition stays for another', async () => {
  const { stores, redis } = engine;
  const workspaceId = newWorkspaceId();
  const receivers = [await engine.register({ workspaceId }), await engine.register({ workspaceId })];
  const [id = ''] = await engine.accept(receivers, NOW);
  const accepted = await heldBy(workspaceId);
  await fail(id, 3);
  expect(await heldBy(workspaceId)).toBeGreaterThan(accepted + 3 * ANSWER_BYTES);
  const deps = { redis, keyspace: stores.keyspace, retention: createDeliveryRetention(RETENTION_MS), now: () => NOW };
  await dropDeliveries(deps, { receiver: receivers[0]?.id ?? '' }, 'purge');
  expect(await heldBy(workspaceId)).toBe(accepted);
  await expectRight();
});

test('attempts that move to the history are given back, and count again when they come back', async () => {
  await using moving = await startEngine({ hasHistory: true });
  const { redis, keys, stores, worker } = moving;
  const receiver = await moving.register();
  const { workspaceId } = receiver;
  const id = await moving.acceptOne(receiver, NOW);
  const attempt = { at: NOW, durationMs: 1, status: 500, answer: ANSWER };
  await moving.record(id, { now: NOW, verdict: { kind: 'failed', reason: 'schedule_exhausted' }, attempt });
  const held = Number(await redis.zscore(keys.held, workspaceId));
  expect(await findAccountFaults(redis, keys)).toEqual([]);
  const batch = await worker.moves.take('mover', NOW + 1, 10);
  const [moved] = batch?.deliveries ?? [];
  const [transition] = batch?.transitions ?? [];
  if (!batch || !moved || !transition) throw new Error('it has settled');
  await worker.moves.forget(batch);
  expect(Number(await redis.zscore(keys.held, workspaceId))).toBeLessThan(held - ANSWER_BYTES);
  expect(await findAccountFaults(redis, keys)).toEqual([]);

  const past = { ...transition, endpointIds: [receiver.id] };
  const history = { find: () => Promise.resolve(moved), findTransition: () => Promise.resolve(past) };
  const deps = { redis, keyspace: stores.keyspace, history: history as unknown as HistoryReader };
  const full = createDeliveryLog({ ...deps, limits: { pending: 0, bytes: held - 1 } });
  await expect(full.redeliver(workspaceId, id, NOW)).rejects.toMatchObject({ code: 'workspace_full' });
  expect(await createDeliveryLog(deps).redeliver(workspaceId, id, NOW)).toMatchObject({ kind: 'pending' });
  expect(Number(await redis.zscore(keys.held, workspaceId))).toBe(held);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
});

test('of a transition no more is taken off than it was counted for', async () => {
  const { stores, redis, keys } = engine;
  const workspaceId = newWorkspaceId();
  const receivers = [await engine.register({ workspaceId }), await engine.register({ workspaceId })];
  const [id = ''] = await engine.accept(receivers, NOW);
  const accepted = await heldBy(workspaceId);
  const transition = keys.transition((await redis.hget(keys.delivery(id), 'x')) ?? '');
  const counted = Number(await redis.hget(transition, 'b'));
  // Nobody counted it.
  await redis.rpush(keys.attempts(id), JSON.stringify({ at: 1, durationMs: 1, status: 500, answer: ANSWER }));
  const deps = { redis, keyspace: stores.keyspace, retention: createDeliveryRetention(RETENTION_MS), now: () => NOW };
  await dropDeliveries(deps, { receiver: receivers[0]?.id ?? '' }, 'purge');
  expect(await redis.hget(transition, 'b')).toBe('0');
  expect(await heldBy(workspaceId)).toBe(accepted - counted);
});

test('accounts that a failover has left wrong are mended beside others that write, and right ones stay', async () => {
  const { redis, keys, stores } = engine;
  const now = Date.now();
  const [wrong, busy] = [newWorkspaceId(), newWorkspaceId()];
  const accept = async (workspaceId: string, count: number) => {
    const receiver = await engine.register({ workspaceId, createdAt: now });
    const ids: string[] = [];
    for (let index = 0; index < count; index++) ids.push(await engine.acceptOne(receiver, now + index));
    return { receiver, ids };
  };
  await accept(wrong, 5);
  const { receiver, ids } = await accept(busy, 20);
  await redis.zincrby(keys.pending, -2, wrong);
  await redis.zincrby(keys.held, 10_000, wrong);
  const [at = ''] = await redis.hkeys(keys.workspaceLeaving(wrong));
  await redis.hincrby(keys.workspaceLeaving(wrong), at, 77);

  const deps = { redis, keyspace: stores.keyspace, now: () => now };
  const [differences] = await Promise.all([
    findAccountDifferences(deps),
    Promise.all(ids.map((id, index) => engine.settle(id, now + index, 'delivered'))),
    engine.acceptOne(receiver, now),
  ]);
  expect(differences).toEqual([
    expect.objectContaining({
      workspaceId: wrong,
      pending: { said: 3, lacks: 2 },
      bytes: expect.objectContaining({ lacks: -10_000 }) as object,
      leaving: new Map([[at, expect.objectContaining({ lacks: -77 }) as object]]),
    }),
  ]);
  await Promise.all([mendAccounts(deps, differences), engine.acceptOne(receiver, now + 1)]);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
  // What is sent twice is mended once.
  await mendAccounts(deps, differences);
  expect(await findAccountFaults(redis, keys)).toEqual([]);
  expect(await findAccountDifferences(deps)).toEqual([]);
});
