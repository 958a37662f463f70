import { deliveryIdOf, newTestTransitionId, type AttemptVerdict, type Delivery, type DeliveryId } from '@herald/core';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { raiseRetention, shortenRetention } from '@herald/store/bulk/drop-deliveries';
import { GLOBAL_KEYS } from '@herald/store/keys/keys';
import { newRevision } from '@herald/store/redis/random-token';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { buildReceiver, buildTask, newWorkspaceId, startStores, type Stores } from '../support/start-stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores[Symbol.asyncDispose]());

/** Pending deliveries of one transition, one per receiver. */
async function createDeliveries(count: number): Promise<Delivery[]> {
  const workspaceId = newWorkspaceId();
  const task = buildTask(workspaceId);
  const receivers = Array.from({ length: count }, () => buildReceiver(workspaceId));
  for (const receiver of receivers) await stores.receivers.register(receiver, 'encrypted');
  await stores.tasks.create(task);
  const { version } = await stores.receivers.findSubscriptions(workspaceId);
  const transitionId = newTestTransitionId();
  await stores.transitions.commit({
    task,
    newRevision: newRevision(),
    subscriptionVersion: version,
    now: Date.now(),
    change: { status: 'running', sequence: 1 },
    emission: {
      transitionId,
      event: 'task.check_in',
      body: '{}',
      targets: receivers.map(({ id }) => ({ endpointId: id, enabled: true })),
    },
  });
  return await Promise.all(receivers.map(({ id }) => load(deliveryIdOf(transitionId, id))));
}

async function createDelivery(): Promise<Delivery> {
  const [delivery] = await createDeliveries(1);
  if (!delivery) throw new Error('one was created');
  return delivery;
}

async function load(id: string): Promise<Delivery> {
  const loaded = await stores.deliveries.load(id);
  if (loaded.kind !== 'loaded') throw new Error(`${id} is ${loaded.kind}`);
  return loaded.delivery;
}

const DELIVERED: AttemptVerdict = { kind: 'delivered' };
const FAILED: AttemptVerdict = { kind: 'failed', reason: 'schedule_exhausted' };
const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

let attempts = 0; // no two are the same
const record = async (delivery: Delivery, verdict: AttemptVerdict, by = stores) => {
  const { kind } = await by.deliveries.record({
    delivery,
    verdict,
    now: Date.now(),
    group: 'somewhere',
    disableAfterMs: 1_000_000,
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    groupLimit: 10,
    lease: await stores.leases.of(delivery.id, Date.now()),
    attempt: { at: Date.now(), durationMs: ++attempts, status: verdict.kind === 'delivered' ? 200 : 500 },
  });
  return kind;
};

const healthOf = async ({ workspaceId, endpointId }: Delivery) =>
  (await stores.receivers.find(workspaceId, endpointId))?.health;

test('a delivery whose record is damaged is not loaded, and the error says why', async () => {
  const { id } = await createDelivery();
  await stores.redis.hset(stores.keys.delivery(id), 's', 'nonsense');
  await expect(stores.deliveries.load(id)).rejects.toThrow('expected one of');
});

test('a record as version 0.2.0 wrote it, with no try and the time at which it is due, says the same', async () => {
  const delivery = await createDelivery();
  expect(delivery).toMatchObject({ tries: 0, nextAttemptAt: delivery.createdAt });
  await stores.redis.hset(stores.keys.delivery(delivery.id), 'n', 0, 'due', delivery.createdAt);
  expect(await load(delivery.id)).toEqual(delivery);
  expect(await record(delivery, DELIVERED)).toBe('recorded');
  expect(await load(delivery.id)).not.toHaveProperty('nextAttemptAt');
  expect(await stores.redis.hexists(stores.keys.delivery(delivery.id), 'due')).toBe(0);
});

test('an attempt that is recorded twice moves the delivery on once', async () => {
  const delivery = await createDelivery();
  const at = Date.now() + 60_000;
  expect(await record(delivery, retryAt(at))).toBe('recorded');
  expect(await record(delivery, retryAt(at + 1))).toBe('superseded');
  expect(await load(delivery.id)).toMatchObject({ status: 'pending', tries: 1, nextAttemptAt: at });
});

test('of two workers that record a failed try at the same time one spends a try', async () => {
  const delivery = await createDelivery();
  const replies = await Promise.all([
    record(delivery, retryAt(1_000)),
    record(delivery, retryAt(2_000), { ...stores, ...stores.second }),
  ]);
  expect(replies.sort()).toEqual(['recorded', 'superseded']);
  expect((await load(delivery.id)).tries).toBe(1);
});

test('a success counts even when another worker has recorded a failure meanwhile, and ends the delivery', async () => {
  const delivery = await createDelivery();
  await record(delivery, retryAt(1_000));
  expect(await record(delivery, DELIVERED)).toBe('recorded');
  const settled = await load(delivery.id);
  expect(settled.status).toBe('delivered');
  expect(settled.nextAttemptAt).toBeUndefined();
});

test.each([retryAt(1_000), FAILED])(
  'what is delivered stays delivered, whatever is recorded late (%p)',
  async (late) => {
    const delivery = await createDelivery();
    await record(delivery, DELIVERED);
    expect(await record(delivery, late)).toBe('superseded');
    expect((await load(delivery.id)).status).toBe('delivered');
  },
);

test('what was canceled in mid-send and arrived all the same is delivered, and what was delivered is not canceled', async () => {
  const [canceled, delivered] = await createDeliveries(2);
  if (!canceled || !delivered) throw new Error('two were created');
  const cancel = (id: DeliveryId) => stores.deliveries.cancel(id, 'receiver_removed', Date.now());
  expect(await cancel(canceled.id)).toEqual({ kind: 'ended', event: canceled.event });
  await record(canceled, DELIVERED);
  await record(delivered, DELIVERED);
  expect(await cancel(delivered.id)).not.toHaveProperty('event');
  expect([(await load(canceled.id)).status, (await load(delivered.id)).status]).toEqual(['delivered', 'delivered']);
});

test('a transition is open until its last delivery ends, and then it and its records leave by themselves', async () => {
  const [first, second] = await createDeliveries(2);
  if (!first || !second) throw new Error('two were created');
  const { keys, redis } = stores;
  const countOpen = () => redis.hget(keys.transition(first.transitionId), 'open');
  await record(first, DELIVERED);
  expect([await countOpen(), await redis.pttl(keys.transition(first.transitionId))]).toEqual(['1', -1]);
  await record(second, FAILED);
  expect(await countOpen()).toBe('0');
  const ttls = await Promise.all(
    [keys.transition(first.transitionId), keys.delivery(first.id), keys.delivery(second.id)].map((key) =>
      redis.pttl(key),
    ),
  );
  const weekMs = 7 * 86_400_000;
  for (const ttl of ttls) expect(ttl).toBeGreaterThan(weekMs - 10_000);
  // The body may stay longer by a sixty-fourth.
  for (const ttl of ttls) expect(ttl).toBeLessThan((weekMs * 65) / 64 + 10_000);
});

test('recording the end of one delivery twice does not close the transition over another that is pending', async () => {
  const [first, second] = await createDeliveries(2);
  if (!first || !second) throw new Error('two were created');
  await record(first, DELIVERED);
  await record(first, DELIVERED);
  await stores.deliveries.cancel(first.id, 'receiver_removed', Date.now());
  expect(await stores.redis.hget(stores.keys.transition(second.transitionId), 'open')).toBe('1');
  expect(await stores.redis.pttl(stores.keys.transition(second.transitionId))).toBe(-1);
});

test('failures in a row are counted on the endpoint until a success', async () => {
  const delivery = await createDelivery();
  await record(delivery, retryAt(1));
  await record({ ...delivery, tries: 1 }, retryAt(2));
  expect(await healthOf(delivery)).toMatchObject({
    consecutiveFailures: 2,
    lastFailure: { at: expect.any(Number) as number, status: 500 },
  });
  await record({ ...delivery, tries: 2 }, DELIVERED);
  expect(await healthOf(delivery)).toEqual({
    consecutiveFailures: 0,
    lastSuccessAt: expect.any(Number) as number,
    healthySince: expect.any(Number) as number,
  });
});

test('recording for an endpoint that was removed meanwhile brings nothing of it back', async () => {
  const delivery = await createDelivery();
  await stores.receivers.remove(delivery.workspaceId, delivery.endpointId, Date.now());
  expect(await record(delivery, FAILED)).toBe('recorded');
  expect(await stores.redis.exists(stores.keys.endpoint(delivery.endpointId))).toBe(0);
});

test('a delivery that nobody knows is missing, and one without its body is told apart', async () => {
  const delivery = await createDelivery();
  expect(await stores.deliveries.load('dlv_none')).toEqual({ kind: 'missing' });
  expect(await record({ ...delivery, id: 'dlv_none' }, DELIVERED)).toBe('missing');
  await stores.redis.del(stores.keys.transition(delivery.transitionId));
  expect(await stores.deliveries.load(delivery.id)).toEqual({ kind: 'body_lost' });
});

test('canceling a delivery whose transition is gone leaves no key that never expires', async () => {
  const delivery = await createDelivery();
  await stores.redis.del(stores.keys.transition(delivery.transitionId));
  await stores.deliveries.cancel(delivery.id, 'body_lost', Date.now());
  expect(await stores.redis.pttl(stores.keys.transition(delivery.transitionId))).not.toBe(-1);
});

const WEEK_MS = 7 * 86_400_000;

test.each([
  ['of data that is new, and in which nothing settled under a longer one, nothing is looked at', 'new', WEEK_MS / 2, 0],
  ['of data that is new, what settled under a longer one leaves earlier', 'longer', WEEK_MS / 2, 1],
  ['of data of a former version, what settled under the same retention stays', 'former', WEEK_MS, 0],
  ['of data of a former version, what settled under a longer retention leaves earlier', 'former', WEEK_MS / 2, 1],
] as const)('a retention that was lowered: %s', async (_what, data, retentionMs, shortened) => {
  const { keys, keyspace, redis } = stores;
  await redis.flushdb();
  await createShardRecordStore(redis).enter(1, data === 'former' ? undefined : 3);
  if (data === 'longer') await raiseRetention(redis, createDeliveryRetention(WEEK_MS));
  const delivery = await createDelivery();
  await record(delivery, DELIVERED);
  const before = await redis.pexpiretime(keys.delivery(delivery.id));
  const deps = { redis, keyspace, retention: createDeliveryRetention(retentionMs), now: Date.now };
  expect(await shortenRetention(deps)).toBe(shortened);
  const after = await redis.pexpiretime(keys.delivery(delivery.id));
  expect(Math.round((before - after) / 10_000)).toBe(shortened * (WEEK_MS / 20_000));
  expect(await redis.hget(GLOBAL_KEYS.shards, 'retention')).toBe(String(retentionMs));
  // From now on, all of the data has it.
  expect(await shortenRetention(deps)).toBe(0);
});
