import {
  callbackIdOf,
  deliveryIdOf,
  draftNotice,
  newTestTransitionId,
  NOTICE_PAYLOADS,
  type AttemptVerdict,
  type DeliveryId,
  type NoticeEvent,
} from '@herald/core';
import { createRandom } from '../../../chaos/random.ts';
import { newRevision } from '@herald/store/redis/random-token';
import { NOTICE_LUA } from '@herald/store/deliveries/delivery-store';
import { createNoticeView } from '@herald/store/operators/describe-delivery';
import { buildReceiver, buildTask, newWorkspaceId } from '../../support/start-stores.ts';
import { startEngine, type Engine, type Receiver } from './start-engine.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const NOW = Date.now();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

/** Records an attempt as a worker with NOTICE_URL does. */
async function attempt(id: DeliveryId, status: number, now: number) {
  const { delivery, endpoint } = await engine.load(id);
  if (!endpoint) throw new Error('its endpoint is there');
  return await engine.record(id, {
    now,
    verdict: status < 300 ? { kind: 'delivered' } : retryAt(now + MINUTE_MS),
    answered: true,
    gone: status === 410,
    notice: draftNotice(delivery, endpoint, { at: now, status }, now),
  });
}

/** A new delivery to the receiver, and one attempt at it. */
const send = async (receiver: Receiver, status: number, now: number) =>
  await attempt(await engine.acceptOne(receiver, now), status, now);

/** The notices that were made, oldest first, each as it is documented. */
async function readNotices() {
  const ids = await engine.redis.zrange(engine.keys.notices, 0, '-1');
  return await Promise.all(
    ids.map(async (id) => {
      const { delivery, body } = await engine.load(id);
      const event = delivery.event as NoticeEvent;
      return { id, delivery, body: NOTICE_PAYLOADS[event].parse(JSON.parse(body.toString())) };
    }),
  );
}
const readEvents = async () => (await readNotices()).map(({ delivery }) => delivery.event);

const iso = (at: number) => new Date(at).toISOString();

test('the step that disables a receiver makes the notice of it, which waits in its own group', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  expect(await attempt(id, 500, NOW)).not.toHaveProperty('notice');
  expect(await attempt(id, 410, NOW + 1_000)).toMatchObject({ disabled: 'gone', notice: 'receiver.disabled' });
  const [notice] = await readNotices();
  expect(notice?.body).toEqual({
    id: notice?.delivery.transitionId,
    event: 'receiver.disabled',
    created_at: iso(NOW + 1_000),
    workspace_id: receiver.workspaceId,
    receiver: { id: receiver.id, url: receiver.url },
    since: iso(NOW),
    failures: 2,
    reason: 'gone',
    last_attempt: { delivery_id: id, at: iso(NOW + 1_000), status: 410 },
  });
  expect(notice?.delivery).toMatchObject({ status: 'pending', endpointId: 'platform', tries: 0 });
  expect(await engine.waitingFor('platform')).toEqual([notice?.id]);
  expect(await engine.worker.reserve(NOW + 2_000)).toMatchObject([{ id: notice?.id, group: 'platform' }]);
});

test('a record that is sent twice makes one notice', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, endpoint, group } = await engine.load(id);
  if (!endpoint) throw new Error('its endpoint is there');
  const input = {
    delivery,
    group,
    attempt: { at: NOW, durationMs: 1, status: 410 },
    verdict: retryAt(NOW + 1),
    now: NOW,
    answered: true,
    gone: true,
    isProbe: false,
    isRedelivery: false,
    disableAfterMs: DAY_MS,
    groupLimit: 10,
    lease: await engine.leases.of(id, NOW, group),
    notice: draftNotice(delivery, endpoint, { at: NOW, status: 410 }, NOW),
  };
  expect(await engine.worker.deliveries.record(input)).toMatchObject({ notice: 'receiver.disabled' });
  expect(await engine.otherWorker.deliveries.record(input)).not.toHaveProperty('notice');
  expect(await readEvents()).toEqual(['receiver.disabled']);
  expect(await engine.waitingFor('platform')).toHaveLength(1);
});

test('a receiver that fails is told of once, after an hour without one success, and again in its next failing period', async () => {
  const receiver = await engine.register();
  for (const minutes of [0, 30, 59]) await send(receiver, 500, NOW + minutes * MINUTE_MS);
  expect(await readEvents()).toEqual([]);
  expect(await send(receiver, 503, NOW + HOUR_MS)).toMatchObject({ notice: 'receiver.failing' });
  for (const hours of [2, 3]) await send(receiver, 500, NOW + hours * HOUR_MS);
  const [failing, ...others] = await readNotices();
  expect(others).toEqual([]);
  expect(failing?.body).toMatchObject({ since: iso(NOW), failures: 4, last_attempt: { status: 503 } });

  expect(await send(receiver, 204, NOW + 4 * HOUR_MS)).toMatchObject({ notice: 'receiver.recovered' });
  expect(await send(receiver, 200, NOW + 5 * HOUR_MS)).not.toHaveProperty('notice');
  const [, recovered] = await readNotices();
  expect(recovered?.body).toMatchObject({ since: iso(NOW), last_attempt: { status: 204 } });
  expect(recovered?.body).not.toHaveProperty('reason');

  await send(receiver, 500, NOW + 6 * HOUR_MS);
  await send(receiver, 500, NOW + 7 * HOUR_MS);
  expect(await readEvents()).toEqual(['receiver.failing', 'receiver.recovered', 'receiver.failing']);
});

test('a receiver that recovers within the hour is not told of', async () => {
  const receiver = await engine.register();
  await send(receiver, 500, NOW);
  await send(receiver, 200, NOW + MINUTE_MS);
  await send(receiver, 500, NOW + HOUR_MS);
  await send(receiver, 200, NOW + HOUR_MS + 1);
  expect(await readEvents()).toEqual([]);
});

test('a receiver that was disabled recovers with its first success after it was enabled', async () => {
  const receiver = await engine.register();
  await send(receiver, 410, NOW);
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: true }, NOW + 1_000);
  await send(receiver, 500, NOW + 2_000);
  expect(await readEvents()).toEqual(['receiver.disabled']);
  await send(receiver, 200, NOW + 3_000);
  expect(await readEvents()).toEqual(['receiver.disabled', 'receiver.recovered']);
});

test('a success that was under way when its receiver was disabled is no recovery', async () => {
  const receiver = await engine.register();
  const underWay = await engine.acceptOne(receiver, NOW);
  await send(receiver, 410, NOW);
  await attempt(underWay, 200, NOW + 1_000);
  expect(await readEvents()).toEqual(['receiver.disabled']);
});

test('what a former url answered neither disables a receiver nor counts for it', async () => {
  const { stores, worker, leases } = engine;
  const receiver = await engine.register();
  const { workspaceId, id: receiverId } = receiver;
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group, endpoint } = await engine.load(id);
  if (!endpoint) throw new Error('its endpoint is there');
  await stores.receivers.patch(workspaceId, receiverId, { url: 'https://hooks.example.com/new' }, NOW + 1);
  const record = async (status: number, at: number) =>
    await worker.deliveries.record({
      delivery,
      group,
      attempt: { at, durationMs: 1, status },
      verdict: status < 300 ? { kind: 'delivered' } : retryAt(at + MINUTE_MS),
      now: at,
      answered: true,
      gone: status === 410,
      isProbe: false,
      isRedelivery: false,
      disableAfterMs: DAY_MS,
      groupLimit: 10,
      lease: await leases.of(id, at, group),
      notice: draftNotice(delivery, endpoint, { at, status }, at),
    });
  expect(await record(410, NOW + 2)).not.toHaveProperty('disabled');
  expect(await record(200, NOW + 3)).toMatchObject({ status: 'delivered' });
  const found = await stores.receivers.find(workspaceId, receiverId);
  expect(found).toMatchObject({ enabled: true, health: { consecutiveFailures: 0, healthySince: NOW + 1 } });
  expect(found?.health).not.toHaveProperty('lastSuccessAt');
  expect(await readEvents()).toEqual([]);
  await send(receiver, 410, NOW + 4);
  expect(await readEvents()).toEqual(['receiver.disabled']);
});

test('a receiver that its owner disables is not told of', async () => {
  const receiver = await engine.register();
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: false }, NOW);
  await engine.stores.receivers.patch(receiver.workspaceId, receiver.id, { enabled: true }, NOW + 1);
  await send(receiver, 200, NOW + 2);
  expect(await readEvents()).toEqual([]);
});

test('a callback is told of when it is disabled, and neither while it fails nor when it recovers', async () => {
  const { stores } = engine;
  const workspaceId = newWorkspaceId();
  const task = buildTask(workspaceId, { createdAt: NOW });
  const callback = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://callback.example.com/' });
  await stores.tasks.create(task, { endpoint: callback, encryptedSecret: 'encrypted' });
  const transitionId = newTestTransitionId();
  await stores.transitions.commit({
    task,
    newRevision: newRevision(),
    subscriptionVersion: '0',
    now: NOW,
    change: { status: 'done', sequence: 1 },
    factKey: 'done',
    emission: {
      transitionId,
      event: 'task.done',
      body: '{}',
      targets: [{ endpointId: callback.id, enabled: true }],
    },
  });
  const id = deliveryIdOf(transitionId, callback.id);
  await attempt(id, 500, NOW);
  await attempt(id, 500, NOW + 2 * HOUR_MS);
  expect(await readEvents()).toEqual([]);
  await attempt(id, 410, NOW + 3 * HOUR_MS);
  const [notice] = await readNotices();
  expect(notice?.body).toMatchObject({
    event: 'callback.disabled',
    callback: { id: callback.id, url: callback.url, task_id: task.id },
    reason: 'gone',
    failures: 3,
  });
  await engine.redis.hset(engine.keys.endpoint(callback.id), 'on', '1');
  await engine.log.redeliver(workspaceId, id, NOW + 4 * HOUR_MS);
  await attempt(id, 200, NOW + 4 * HOUR_MS);
  expect(await readEvents()).toEqual(['callback.disabled']);
});

test('without NOTICE_URL nothing of it is written', async () => {
  const receiver = await engine.register();
  const [failing, gone] = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW)];
  await engine.record(failing, { now: NOW, verdict: retryAt(NOW), answered: true });
  await engine.record(failing, { now: NOW + 2 * HOUR_MS, verdict: retryAt(NOW), answered: true });
  await engine.record(gone, { now: NOW + 2 * HOUR_MS, verdict: retryAt(NOW), answered: true, gone: true });
  expect(await readEvents()).toEqual([]);
  expect(await engine.redis.hexists(engine.keys.endpoint(receiver.id), 'told')).toBe(0);
});

test('its workspace neither sees a notice nor has it sent again; an operator does both', async () => {
  const { log, redis, keys, stores } = engine;
  const receiver = await engine.register();
  await send(receiver, 410, NOW);
  const [notice] = await readNotices();
  const id = notice?.id ?? '';
  const owner = notice?.delivery.workspaceId ?? '';
  await engine.worker.reserve(NOW + 1_000);
  await engine.record(id, { now: NOW + 1_000, verdict: { kind: 'failed', reason: 'schedule_exhausted' } });
  expect(await log.find(receiver.workspaceId, id)).toBeUndefined();
  expect(await log.redeliver(receiver.workspaceId, id, NOW)).toEqual({ kind: 'missing' });
  expect(await createNoticeView({ redis, keyspace: stores.keyspace }).list()).toMatchObject([
    { delivery: { id, status: 'failed', event: 'receiver.disabled' }, host: 'NOTICE_URL', endpointState: 'enabled' },
  ]);
  expect(await redis.zrange(keys.failed, 0, '-1')).toContain(id);
  expect(await log.redeliver(owner, id, NOW)).toEqual({ kind: 'pending', event: 'receiver.disabled' });
  expect(await engine.waitingFor('platform')).toEqual([id]);
});

test('a time in a notice is the one that JavaScript writes', async () => {
  const days = [0, '1972-02-29', '1999-12-31', '2000-02-29', '2100-02-28', '2100-03-01', '2400-02-29', '2999-12-31'];
  const { between } = createRandom(1, 'times');
  const random = Array.from({ length: 500 }, () => between(0, 40_000 * DAY_MS));
  const times = [
    ...days.flatMap((day) => [Date.parse(`${day}Z`) || 0, (Date.parse(`${day}Z`) || 0) + DAY_MS - 1]),
    ...random,
  ];
  const lua = `${NOTICE_LUA} local all = {} for index, ms in ipairs(ARGV) do all[index] = toTime(tonumber(ms)) end return all`;
  expect(await engine.redis.eval(lua, 1, engine.keys.notices, ...times)).toEqual(times.map(iso));
});
