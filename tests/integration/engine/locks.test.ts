import { randomBytes } from 'node:crypto';
import {
  callbackIdOf,
  deliveryIdOf,
  newReplayId,
  newTestTransitionId,
  ReceiverLockedError,
  type EndpointId,
  type WorkspaceId,
} from '@herald/core';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import type { EndpointPatch } from '@herald/store/endpoints/endpoint-patch';
import { buildReceiver, buildTask, newWorkspaceId } from '../../support/start-stores.ts';
import { range, startEngine, type Engine } from './start-engine.ts';

const NOW = Date.now();
const REASON = 'It floods a host of somebody else.';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine[Symbol.asyncDispose]());

const KINDS = ['receiver', 'callback'] as const;

/** An endpoint of either kind, and what can be done with it over two connections. */
async function createEndpoint(kind: (typeof KINDS)[number]) {
  const { stores } = engine;
  if (kind === 'receiver') {
    const { workspaceId, id } = await engine.register();
    return endpointIn(stores.receivers, stores.second.receivers, workspaceId, id);
  }
  const { keyspace } = stores;
  const task = buildTask(newWorkspaceId());
  const endpoint = buildReceiver(task.workspaceId, { id: callbackIdOf(task.id) });
  await stores.tasks.create({ ...task, callback: endpoint }, { endpoint, encryptedSecret: 'encrypted' });
  const [store, other] = [stores.redis, stores.second.redis].map((redis) => createCallbackStore({ redis, keyspace }));
  if (!store || !other) throw new Error('there are two');
  return endpointIn(store, other, task.workspaceId, endpoint.id);
}

type Store = Pick<ReturnType<typeof createCallbackStore>, 'find' | 'patch' | 'lock' | 'unlock'>;

function endpointIn(store: Store, other: Store, workspaceId: WorkspaceId, id: EndpointId) {
  return {
    id,
    workspaceId,
    patch: (change: EndpointPatch, now = NOW) => store.patch(workspaceId, id, change, now),
    lock: (reason?: string, now = NOW) => other.lock(workspaceId, id, reason, now),
    unlock: (now = NOW) => store.unlock(workspaceId, id, now),
    find: async () => {
      const found = await store.find(workspaceId, id);
      if (!found) throw new Error('it is there');
      return found;
    },
  };
}

const LOCKED = { enabled: false, disabledReason: 'locked', disabledBy: 'platform' };
const PATCHES: readonly EndpointPatch[] = [
  { enabled: true },
  { enabled: false },
  { url: 'https://other.example.com/in' },
  { events: ['task.done'] },
  { ordering: 'task' },
  { headers: { names: ['x-a'], encrypted: 'sealed' } },
];

describe.each(KINDS)('a locked %s', (kind) => {
  test('refuses every change of its customer with the reason, and stays as it is', async () => {
    const endpoint = await createEndpoint(kind);
    expect(await endpoint.lock(REASON)).toBe(true);
    const before = await endpoint.find();
    expect(before).toMatchObject({ ...LOCKED, disabledAt: NOW, lockedReason: REASON });
    for (const change of PATCHES) {
      const refused = endpoint.patch({ ...change, by: 'key_1' }, NOW + 1);
      await expect(refused).rejects.toEqual(new ReceiverLockedError(endpoint.id, REASON));
    }
    expect(await endpoint.find()).toEqual(before);
  });

  test('stays locked whatever change races with the lock', async () => {
    for (const round of range(40)) {
      const endpoint = await createEndpoint(kind);
      const isOff = round % 2 === 1;
      if (isOff) await endpoint.patch({ enabled: false, by: 'key_1' });
      const enable = () => endpoint.patch({ enabled: true }).catch((error: unknown) => error);
      // One after the other, so that the lock comes in between, over another connection.
      const enableOften = async () => {
        const outcomes: unknown[] = [];
        while (outcomes.length < 4) outcomes.push(await enable());
        return outcomes;
      };
      const [outcomes, isLocked] = await Promise.all([enableOften(), endpoint.lock(REASON)]);
      expect(isLocked).toBe(true);
      for (const outcome of outcomes)
        expect([true, new ReceiverLockedError(endpoint.id, REASON)]).toContainEqual(outcome);
      expect(await endpoint.find()).toMatchObject({ ...LOCKED, lockedReason: REASON });
    }
  });

  test('was disabled for as long as before, if it was, and gets the newest reason', async () => {
    const endpoint = await createEndpoint(kind);
    await endpoint.patch({ enabled: false, by: 'plk_1' });
    expect(await endpoint.find()).toMatchObject({ disabledBy: 'plk_1', disabledReason: 'by_request' });
    await endpoint.lock(REASON, NOW + 1);
    expect(await endpoint.find()).toMatchObject({ ...LOCKED, disabledAt: NOW, lockedReason: REASON });
    await endpoint.lock('Another.', NOW + 2);
    expect(await endpoint.find()).toMatchObject({ ...LOCKED, disabledAt: NOW, lockedReason: 'Another.' });
    await endpoint.lock(undefined, NOW + 3);
    expect(await endpoint.find()).not.toHaveProperty('lockedReason');
  });

  test('forgets all of that when the lock is lifted, and is its customer’s again', async () => {
    const endpoint = await createEndpoint(kind);
    await endpoint.lock(REASON);
    expect(await endpoint.unlock(NOW + 1)).toBe(true);
    const lifted = await endpoint.find();
    expect(lifted).toMatchObject({ enabled: true, health: { healthySince: NOW + 1 } });
    for (const field of ['disabledAt', 'disabledReason', 'disabledBy', 'lockedReason']) {
      expect(lifted).not.toHaveProperty(field);
    }
    expect(await endpoint.patch({ enabled: false, by: 'key_1' }, NOW + 2)).toBe(true);
    expect(await endpoint.find()).toMatchObject({ disabledBy: 'key_1', disabledReason: 'by_request' });
    expect(await endpoint.patch({ enabled: true }, NOW + 3)).toBe(true);
  });
});

test('whoever disables what is disabled changes neither who did it, nor why, nor when', async () => {
  const endpoint = await createEndpoint('receiver');
  await endpoint.patch({ enabled: false, by: 'platform' });
  await endpoint.patch({ enabled: false, by: 'key_1' }, NOW + 1);
  expect(await endpoint.find()).toMatchObject({ disabledBy: 'platform', disabledAt: NOW });
});

const FAILURES = [
  { when: 'a 410', gone: true, failures: 1 },
  { when: 'failures for too long', gone: false, failures: 12 },
];
test.each(FAILURES)(
  '$when of what was in work when it was locked leaves the lock as it is',
  async ({ gone, failures }) => {
    const receiver = await engine.register();
    const ids = await Promise.all(range(failures).map(() => engine.acceptOne(receiver, NOW)));
    await engine.stores.receivers.lock(receiver.workspaceId, receiver.id, REASON, NOW + 1);
    const verdict = { kind: 'retry', at: NOW + 60_000 } as const;
    for (const [index, id] of ids.entries()) {
      const now = NOW + 2 + index * 86_400_000;
      expect(await engine.record(id, { now, verdict, gone })).not.toHaveProperty('disabled');
    }
    const found = await engine.stores.receivers.find(receiver.workspaceId, receiver.id);
    expect(found).toMatchObject({ ...LOCKED, disabledAt: NOW + 1, lockedReason: REASON });
  },
);

test('what Herald disables by itself says so, and its customer enables it again', async () => {
  const receiver = await engine.register();
  const { workspaceId, id } = receiver;
  await engine.record(await engine.acceptOne(receiver, NOW), {
    now: NOW,
    verdict: { kind: 'retry', at: NOW },
    gone: true,
  });
  const { receivers } = engine.stores;
  expect(await receivers.find(workspaceId, id)).toMatchObject({ disabledReason: 'gone', disabledBy: 'herald' });
  expect(await receivers.patch(workspaceId, id, { enabled: true }, NOW + 1)).toBe(true);
});

test('nothing is sent to a locked receiver because somebody asks: no test event, no redelivery, no replay', async () => {
  const receiver = await engine.register();
  const { workspaceId, id } = receiver;
  const deliveryId = await engine.acceptOne(receiver, NOW);
  await engine.settle(deliveryId, NOW, 'failed');
  await engine.stores.receivers.lock(workspaceId, id, REASON, NOW + 1);
  const refusal = new ReceiverLockedError(id, REASON);

  const transitionId = newTestTransitionId();
  const test = { transitionId, deliveryId: deliveryIdOf(transitionId, id), endpointId: id, workspaceId, body: '{}' };
  await expect(engine.stores.testEvents.create({ ...test, createdAt: NOW })).rejects.toEqual(refusal);
  expect(await engine.stores.deliveries.load(test.deliveryId)).toEqual({ kind: 'missing' });

  const locked = { kind: 'locked', endpointId: id, reason: REASON };
  expect(await engine.log.redeliver(workspaceId, deliveryId, NOW + 2)).toEqual(locked);
  expect((await engine.load(deliveryId)).delivery.owedAttempts).toBe(0);

  const replayId = newReplayId(randomBytes(12));
  const range = { since: 0, until: NOW + 2, statuses: ['failed'], createdAt: NOW + 2 } as const;
  const replay = engine.replays.create(workspaceId, { id: replayId, endpointId: id, ...range });
  await expect(replay).rejects.toEqual(refusal);
  expect(await engine.replays.find(workspaceId, replayId)).toBeUndefined();
});

test('what was pending when it was locked ends as canceled, and a running replay stops', async () => {
  const receiver = await engine.register();
  const { workspaceId, id } = receiver;
  const failed = await engine.acceptOne(receiver, NOW);
  await engine.settle(failed, NOW, 'failed');
  const pending = await engine.acceptOne(receiver, NOW);
  const replayId = newReplayId(randomBytes(12));
  const asked = { since: 0, until: NOW + 2, statuses: ['failed'], createdAt: NOW } as const;
  await engine.replays.create(workspaceId, { id: replayId, endpointId: id, ...asked });
  await engine.stores.receivers.lock(workspaceId, id, REASON, NOW + 1);
  for await (const ended of engine.worker.purges.purge(id, () => NOW + 2))
    expect(ended.map(({ id: each }) => each)).toEqual([pending]);
  expect(await engine.statusOf(pending)).toBe('canceled');
  await engine.worker.steps.step(replayId, NOW + 3);
  expect(await engine.replays.find(workspaceId, replayId)).toMatchObject({ status: 'stopped', replayed: 0 });
  expect(await engine.statusOf(failed)).toBe('failed');
});

test('a locked receiver can be removed, and its secret rotated', async () => {
  const { workspaceId, id } = await engine.register();
  const { receivers } = engine.stores;
  await receivers.lock(workspaceId, id, REASON, NOW);
  expect(await receivers.rotateSecret(workspaceId, id, 'new', undefined, NOW)).toBe(true);
  expect(await receivers.find(workspaceId, id)).toMatchObject({ ...LOCKED, encryptedSecret: 'new' });
  expect(await receivers.remove(workspaceId, id, NOW)).toBe(true);
  expect(await receivers.lock(workspaceId, id, REASON, NOW)).toBe(false);
  expect(await receivers.unlock(workspaceId, id, NOW)).toBe(false);
  expect(await engine.redis.exists(engine.keys.endpoint(id))).toBe(0);
});

test('no other workspace locks or unlocks it', async () => {
  for (const kind of KINDS) {
    const { workspaceId, id, find } = await createEndpoint(kind);
    const { stores } = engine;
    const store = kind === 'receiver' ? stores.receivers : createCallbackStore(stores);
    const stranger = newWorkspaceId();
    expect(await store.lock(stranger, id, REASON, NOW)).toBe(false);
    expect(await find()).toMatchObject({ enabled: true });
    await store.lock(workspaceId, id, REASON, NOW);
    expect(await store.unlock(stranger, id, NOW)).toBe(false);
    expect(await find()).toMatchObject(LOCKED);
  }
});

test('an API of an earlier version that enables it, which knows no lock, lifts the lock', async () => {
  const { workspaceId, id } = await engine.register();
  const { receivers } = engine.stores;
  await receivers.lock(workspaceId, id, REASON, NOW);
  await engine.redis.hset(engine.keys.endpoint(id), 'on', '1');
  await engine.redis.hdel(engine.keys.endpoint(id), 'offAt', 'offWhy');
  expect(await receivers.patch(workspaceId, id, { enabled: false, by: 'key_1' }, NOW)).toBe(true);
  expect(await receivers.find(workspaceId, id)).toMatchObject({ disabledReason: 'by_request', disabledBy: 'key_1' });
});

describe('a receiver that the platform has paused', () => {
  const idsOf = (jobs: Awaited<ReturnType<Engine['worker']['reserve']>>) => jobs.map(({ id }) => id);

  test('gets nothing, redeliveries included, until it is resumed, and then all of it in order', async () => {
    const receiver = await engine.register();
    const { workspaceId, id } = receiver;
    const { receivers } = engine.stores;
    const failed = await engine.acceptOne(receiver, NOW);
    await engine.settle(failed, NOW, 'failed');
    const first = await engine.acceptOne(receiver, NOW);
    expect(await receivers.pause(workspaceId, id, REASON, NOW)).toBe(true);
    const second = await engine.acceptOne(receiver, NOW + 1);
    await engine.log.redeliver(workspaceId, failed, NOW + 1);
    expect(idsOf(await engine.worker.reserve(NOW + 2))).toEqual([]);
    expect(await receivers.find(workspaceId, id)).toMatchObject({
      enabled: true,
      pausedAt: NOW,
      pausedReason: REASON,
    });
    expect(await receivers.resume(workspaceId, id, NOW + 3)).toBe(true);
    expect(await receivers.find(workspaceId, id)).not.toHaveProperty('pausedAt');
    expect(idsOf(await engine.worker.reserve(NOW + 3))).toEqual([failed, first, second]);
    for (const each of [failed, first, second]) await engine.record(each, { now: NOW + 4 });
  });

  test.each<{ change: EndpointPatch; what: string }>([
    { what: 'enables it', change: { enabled: true } },
    { what: 'gives it another url', change: { url: 'https://other.example.com/in' } },
    { what: 'gives it a rate', change: { rateLimit: { perSecond: 5 } } },
  ])('stays paused when its customer $what, and loses nothing', async ({ change }) => {
    const receiver = await engine.register();
    const { workspaceId, id } = receiver;
    const { receivers } = engine.stores;
    await receivers.pause(workspaceId, id, undefined, NOW);
    const waits = await engine.acceptOne(receiver, NOW);
    expect(await receivers.patch(workspaceId, id, { ...change, by: 'key_1' }, NOW + 1)).toBe(true);
    expect(await receivers.find(workspaceId, id)).toMatchObject({ pausedAt: NOW });
    expect(idsOf(await engine.worker.reserve(NOW + 60_000))).toEqual([]);
    await receivers.resume(workspaceId, id, NOW + 60_000);
    expect(idsOf(await engine.worker.reserve(NOW + 60_000))).toEqual([waits]);
    await engine.record(waits, { now: NOW + 60_001 });
  });

  test('can be disabled, which cancels what waits, and is paused still when it is enabled again', async () => {
    const receiver = await engine.register();
    const { workspaceId, id } = receiver;
    const { receivers } = engine.stores;
    await receivers.pause(workspaceId, id, undefined, NOW);
    const canceled = await engine.acceptOne(receiver, NOW);
    await receivers.patch(workspaceId, id, { enabled: false }, NOW + 1);
    for await (const ended of engine.worker.purges.purge(id, () => NOW + 2)) expect(ended).toHaveLength(1);
    expect(await engine.statusOf(canceled)).toBe('canceled');
    await receivers.lock(workspaceId, id, REASON, NOW + 3);
    await receivers.unlock(workspaceId, id, NOW + 4);
    expect(await receivers.find(workspaceId, id)).toMatchObject({ enabled: true, pausedAt: NOW });
    const waits = await engine.acceptOne(receiver, NOW + 5);
    expect(idsOf(await engine.worker.reserve(NOW + 6))).toEqual([]);
    expect(await engine.waitingFor(id)).toEqual([waits]);
    // A pause that is asked for again has been there since the first.
    await receivers.pause(workspaceId, id, 'Another.', NOW + 7, NOW);
    expect(await receivers.find(workspaceId, id)).toMatchObject({ pausedAt: NOW, pausedReason: 'Another.' });
    expect(await receivers.remove(workspaceId, id, NOW + 8)).toBe(true);
    expect(await receivers.pause(workspaceId, id, undefined, NOW + 9)).toBe(false);
    expect(await receivers.resume(workspaceId, id, NOW + 9)).toBe(false);
  });
});
