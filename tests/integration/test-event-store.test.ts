import { deliveryIdOf, newSampleTransitionId, newTestTransitionId } from '@herald/core';
import { buildReceiver, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';
import { listKeys } from '../support/start-topology.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

async function createTestEvent() {
  const workspaceId = newWorkspaceId();
  const receiver = buildReceiver(workspaceId);
  await stores.receivers.register(receiver, 'encrypted');
  const transitionId = newTestTransitionId();
  const deliveryId = deliveryIdOf(transitionId, receiver.id);
  const event = { transitionId, deliveryId, endpointId: receiver.id, workspaceId, body: '{}', createdAt: Date.now() };
  return { event, reply: await stores.testEvents.create(event) };
}

test('of many that claim a test event at the same time exactly one may send it', async () => {
  const { event } = await createTestEvent();
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? stores : stores.second).testEvents.claim(event.workspaceId, event.deliveryId, `lease ${index}`),
    ),
  );
  expect(claims.filter((claim) => claim === 'claimed')).toHaveLength(1);
  expect(claims.filter((claim) => claim === 'taken')).toHaveLength(19);
});

test('a test event that has ended can not be claimed, and one that nobody knows is missing', async () => {
  const { event } = await createTestEvent();
  await stores.deliveries.cancel(event.deliveryId, 'not_sent_in_time', Date.now());
  expect(await stores.testEvents.claim(event.workspaceId, event.deliveryId, 'lease')).toBe('settled');
  expect(await stores.testEvents.claim(event.workspaceId, 'dlv_none', 'lease')).toBe('missing');
});

test('a claim that is sent again, since its reply was lost, is still that of its claimer', async () => {
  const { event } = await createTestEvent();
  const claim = (claimer: string) => stores.testEvents.claim(event.workspaceId, event.deliveryId, claimer);
  expect([await claim('lease'), await claim('lease'), await claim('another')]).toEqual(['claimed', 'claimed', 'taken']);
});

test('a test event for a receiver that was removed meanwhile leaves nothing', async () => {
  const { event, reply } = await createTestEvent();
  expect(reply).toBe('created');
  await stores.receivers.remove(event.workspaceId, event.endpointId, Date.now());
  const before = (await listKeys(stores.redis)).length;
  const transitionId = newTestTransitionId();
  const late = { ...event, transitionId, deliveryId: deliveryIdOf(transitionId, event.endpointId) };
  expect(await stores.testEvents.create(late)).toBe('missing');
  expect((await listKeys(stores.redis)).length).toBe(before);
});

test('a test event is written with its body, and waits apart from all deliveries', async () => {
  const { event } = await createTestEvent();
  expect(await stores.deliveries.load(event.deliveryId)).toMatchObject({
    kind: 'loaded',
    body: Buffer.from('{}'),
    delivery: { event: 'webhook.test', status: 'pending', endpointId: event.endpointId },
  });
  expect(await stores.redis.zrange(stores.keys.queue.waiting('!tests'), '0', '-1')).toContain(event.deliveryId);
});

test('a sample is a test event that knows which event it shows', async () => {
  const { event } = await createTestEvent();
  const transitionId = newSampleTransitionId();
  const deliveryId = deliveryIdOf(transitionId, event.endpointId);
  await stores.testEvents.create({ ...event, transitionId, deliveryId, sampleOf: 'task.done' });
  const loaded = await stores.deliveries.load(deliveryId);
  expect(loaded).toMatchObject({ delivery: { event: 'webhook.test', sampleOf: 'task.done' } });
  const plain = await stores.deliveries.load(event.deliveryId);
  expect(plain.kind === 'loaded' && plain.delivery).not.toHaveProperty('sampleOf');
});

test('a test event that is written again, since the connection broke before the reply, stays as it is', async () => {
  const { event } = await createTestEvent();
  const { redis, keys } = stores;
  await redis.zrem(keys.queue.waiting('!tests'), event.deliveryId);
  await redis.hset(keys.delivery(event.deliveryId), 's', 'delivered');
  expect(await stores.testEvents.create(event)).toBe('created');
  expect(await redis.hget(keys.delivery(event.deliveryId), 's')).toBe('delivered');
  expect(await stores.leases.isQueued(event.deliveryId)).toBe(false);
});
