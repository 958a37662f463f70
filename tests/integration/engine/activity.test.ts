import { callbackIdOf, deliveryIdOf, newTestTransitionId } from '@herald/core';
import { newRevision } from '@herald/store/redis/random-token';
import { createActivityReader } from '@herald/store/stats/activity-reader';
import { buildReceiver, buildTask } from '../../support/start-stores.ts';
import { startEngine, type Engine, type Receiver } from './start-engine.ts';

const NOW = Date.now();
const LATER = NOW + 60_000;

let engine: Engine;
let readVersion: ReturnType<typeof createActivityReader>['readVersion'];
beforeAll(async () => {
  engine = await startEngine();
  ({ readVersion } = createActivityReader({ redis: engine.redis, keyspace: engine.stores.keyspace }));
});
afterAll(() => engine[Symbol.asyncDispose]());

interface Scene {
  receiver: Receiver;
  /** Settled as failed. */
  failed: string;
  pending: string;
}

async function prepare(): Promise<Scene> {
  const receiver = await engine.register();
  const failed = await engine.acceptOne(receiver, NOW);
  await engine.settle(failed, NOW + 1, 'failed');
  return { receiver, failed, pending: await engine.acceptOne(receiver, NOW) };
}

const replayOf = ({ receiver }: Scene) => `rpl_${receiver.id}`;
const requestReplay = (scene: Scene) =>
  engine.replays.create(scene.receiver.workspaceId, {
    id: replayOf(scene),
    endpointId: scene.receiver.id,
    since: NOW - 1_000,
    until: LATER,
    statuses: ['failed'],
    createdAt: LATER,
  });
const disable = ({ receiver: { workspaceId, id } }: Scene) =>
  engine.stores.receivers.patch(workspaceId, id, { enabled: false }, LATER);
async function endPending({ receiver }: Scene) {
  const { purges } = engine.worker;
  const { ids } = await purges.claim(LATER + 1, LATER + 60_000, 100);
  expect(ids).toContain(receiver.id);
  for await (const ended of purges.purge(receiver.id, () => LATER + 1)) expect(ended).toHaveLength(1);
}

async function createCallback(workspaceId: string, host: string) {
  const task = buildTask(workspaceId, { createdAt: NOW });
  const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: `https://${host}.example.com/` });
  await engine.stores.tasks.create(task, { endpoint, encryptedSecret: 'encrypted' });
  return {
    id: endpoint.id,
    /** Its Task ends. Returns the id of the delivery. */
    async accept() {
      const { version } = await engine.stores.receivers.findSubscriptions(workspaceId);
      const transitionId = newTestTransitionId();
      const targets = [{ endpointId: endpoint.id, enabled: true }];
      await engine.stores.transitions.commit({
        task,
        newRevision: newRevision(),
        subscriptionVersion: version,
        now: NOW,
        change: { status: 'done', sequence: 1 },
        factKey: 'done',
        emission: { transitionId, event: 'task.done', body: '{}', targets },
      });
      return deliveryIdOf(transitionId, endpoint.id);
    },
  };
}

const nothing = () => Promise.resolve();

test.each<{ change: string; before?: (scene: Scene) => Promise<unknown>; make: (scene: Scene) => Promise<unknown> }>([
  { change: 'a delivery is accepted', make: ({ receiver }) => engine.acceptOne(receiver, NOW + 5) },
  {
    change: 'one more is accepted in the millisecond of the last',
    make: ({ receiver }) => engine.acceptOne(receiver, NOW),
  },
  {
    change: 'an attempt succeeds',
    make: ({ pending }) => engine.record(pending, { now: NOW + 10 }),
  },
  {
    change: 'an attempt fails',
    make: ({ pending }) => engine.record(pending, { now: NOW + 10, verdict: { kind: 'retry', at: LATER } }),
  },
  { change: 'the schedule of a delivery ends', make: ({ pending }) => engine.settle(pending, NOW + 10, 'failed') },
  {
    change: 'a redelivery is asked for',
    make: ({ receiver, failed }) => engine.log.redeliver(receiver.workspaceId, failed, NOW + 10),
  },
  {
    change: 'a waiting delivery is to be sent at once',
    make: ({ receiver, pending }) => engine.log.redeliver(receiver.workspaceId, pending, NOW + 10),
  },
  {
    change: 'a redelivery is attempted',
    before: ({ receiver, failed }) => engine.log.redeliver(receiver.workspaceId, failed, NOW + 10),
    make: ({ failed }) => engine.settle(failed, NOW + 20, 'delivered'),
  },
  { change: 'a replay is asked for', make: requestReplay },
  {
    change: 'a replay goes on',
    before: requestReplay,
    make: (scene) => engine.worker.steps.step(replayOf(scene), LATER + 1),
  },
  {
    change: 'a replay is stopped',
    before: requestReplay,
    make: (scene) => engine.replays.stop(scene.receiver.workspaceId, replayOf(scene), LATER + 1),
  },
  { change: 'the receiver is disabled', make: disable },
  { change: 'what a disabled receiver had waiting is canceled', before: disable, make: endPending },
  {
    change: 'the receiver gets another url',
    make: ({ receiver: { workspaceId, id } }) =>
      engine.stores.receivers.patch(workspaceId, id, { url: 'https://other.example.com/' }, LATER),
  },
])('the version of the receiver and that of its workspace change when $change', async ({ before = nothing, make }) => {
  const scene = await prepare();
  const { workspaceId, id } = scene.receiver;
  await before(scene);
  const read = () => Promise.all([readVersion(workspaceId, id), readVersion(workspaceId)]);
  const [ofReceiver, ofWorkspace] = await read();
  await make(scene);
  const after = await read();
  expect(after[0]).toMatch(/^\w{1,64}$/);
  expect(after[1]).toMatch(/^\w{1,64}$/);
  expect(after[0]).not.toBe(ofReceiver);
  expect(after[1]).not.toBe(ofWorkspace);
});

test('no version changes while nothing happens, and another workspace changes none', async () => {
  const { receiver } = await prepare();
  const { workspaceId, id } = receiver;
  const read = () => Promise.all([readVersion(workspaceId, id), readVersion(workspaceId)]);
  const before = await read();
  await prepare();
  expect(await read()).toEqual(before);
});

test('what happens to one receiver changes the version of the workspace, and not that of another receiver', async () => {
  const { receiver } = await prepare();
  const { workspaceId } = receiver;
  const other = await engine.register({ workspaceId, url: 'https://quiet.example.com/' });
  const [ofOther, ofWorkspace] = [await readVersion(workspaceId, other.id), await readVersion(workspaceId)];
  await engine.acceptOne(receiver, NOW + 5);
  expect(await readVersion(workspaceId, other.id)).toBe(ofOther);
  expect(await readVersion(workspaceId)).not.toBe(ofWorkspace);
});

test('a callback has a version of its own, which is not that of its workspace', async () => {
  const { receiver } = await prepare();
  const { workspaceId } = receiver;
  const [first, second] = [await createCallback(workspaceId, 'a'), await createCallback(workspaceId, 'b')];
  const ofSecond = await readVersion(workspaceId, second.id);
  const versions = [await readVersion(workspaceId, first.id), await readVersion(workspaceId)];
  const delivery = await first.accept();
  versions.push(await readVersion(workspaceId, first.id), await readVersion(workspaceId));
  expect(await readVersion(workspaceId, second.id)).toBe(ofSecond);
  await engine.settle(delivery, NOW + 10, 'failed');
  versions.push(await readVersion(workspaceId, first.id), await readVersion(workspaceId));
  expect(new Set(versions).size).toBe(6);
  expect(versions).not.toContain(undefined);
});

test('a workspace without anything has a version, and what another workspace owns is not found', async () => {
  const { receiver } = await prepare();
  expect(await readVersion('ws_empty')).toMatch(/^\w+$/);
  expect(await readVersion('ws_empty', receiver.id)).toBeUndefined();
  expect(await readVersion(receiver.workspaceId, 'wh_01kes8t4a0q3m1y5b9z7x2c6vd')).toBeUndefined();
});

test('reading a version writes nothing', async () => {
  const { receiver } = await prepare();
  const before = await engine.redis.dbsize();
  await readVersion(receiver.workspaceId);
  await readVersion(receiver.workspaceId, receiver.id);
  await readVersion('ws_nobody');
  expect(await engine.redis.dbsize()).toBe(before);
});
