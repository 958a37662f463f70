import { callbackIdOf, deliveryIdOf, newTestTransitionId, type AttemptVerdict } from '@herald/core';
import { newRevision } from '@herald/store/redis/random-token';
import { ARRIVAL_BINS, ATTEMPT_BINS, failedOf, SHARD_FIELDS } from '@herald/store/stats/counter-layout';
import { createStatsReader } from '@herald/store/stats/stats-reader';
import { buildReceiver, buildTask } from '../../support/start-stores.ts';
import { startEngine, type Engine, type Receiver } from './start-engine.ts';

const NOW = Date.now();

let engine: Engine;
beforeEach(async () => {
  engine = await startEngine();
});
afterEach(() => engine[Symbol.asyncDispose]());

const reader = () =>
  createStatsReader({ redis: engine.redis, keyspace: engine.stores.keyspace, now: () => NOW + 5_000 });
const totalOf = (buckets: readonly { counts: readonly number[] }[], of: (counts: readonly number[]) => number) =>
  buckets.reduce((sum, { counts }) => sum + of(counts), 0);

async function readReceiver({ workspaceId, id }: Receiver) {
  const buckets = await reader().ofReceiver(workspaceId, id, '24h');
  return { delivered: totalOf(buckets, ATTEMPT_BINS.sum), failed: totalOf(buckets, failedOf) };
}

async function readService() {
  const buckets = await reader().ofService('24h');
  const of = (field: number) => totalOf(buckets, (counts) => counts[field] ?? 0);
  return {
    accepted: of(SHARD_FIELDS.accepted),
    failed: of(SHARD_FIELDS.failed),
    atOnce: totalOf(buckets, ARRIVAL_BINS.sum),
    later: of(SHARD_FIELDS.deliveredLater),
  };
}

const retryAt = (at: number): AttemptVerdict => ({ kind: 'retry', at });

test('accepted deliveries, failed attempts and arrivals, at once and later, are counted of the receiver and of the service', async () => {
  const receiver = await engine.register();
  const [first, second] = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW)];
  await engine.record(first, { now: NOW + 300, attempt: { at: NOW, durationMs: 250, status: 200 } });
  await engine.record(second, { now: NOW + 1_000, verdict: retryAt(NOW + 2_000), answered: true });
  await engine.record(second, { now: NOW + 3_000, attempt: { at: NOW, durationMs: 90, status: 200 } });
  expect(await readReceiver(receiver)).toEqual({ delivered: 2, failed: 1 });
  expect(await readService()).toEqual({ accepted: 2, failed: 1, atOnce: 1, later: 1 });
  const buckets = await reader().ofReceiver(receiver.workspaceId, receiver.id, '1h');
  const counts = buckets.find((bucket) => ATTEMPT_BINS.sum(bucket.counts) > 0)?.counts ?? [];
  expect(ATTEMPT_BINS.quantile(counts, 0.95)).toBeGreaterThan(170);
  expect(ATTEMPT_BINS.quantile(counts, 0.95)).toBeLessThan(300);
});

test('an attempt whose record is sent twice, since the reply was lost, counts once', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  const failure = {
    delivery,
    group,
    now: NOW,
    verdict: retryAt(NOW + 5),
    attempt: { at: NOW, durationMs: 1 },
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    disableAfterMs: 1_000_000,
    lease: await engine.leases.of(id, NOW),
    groupLimit: 10,
  };
  await engine.worker.deliveries.record(failure);
  await engine.worker.deliveries.record(failure);
  expect(await readReceiver(receiver)).toEqual({ delivered: 0, failed: 1 });
  expect(await readService()).toMatchObject({ failed: 1 });
});

test('a replay and a redelivery that arrive count as deliveries that did not arrive at once', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  await engine.settle(id, NOW, 'failed');
  await engine.log.redeliver(receiver.workspaceId, id, NOW + 1);
  await engine.settle(id, NOW + 2, 'delivered');
  expect(await readReceiver(receiver)).toEqual({ delivered: 1, failed: 1 });
  expect(await readService()).toMatchObject({ atOnce: 0, later: 1 });
});

test('an attempt of a test event counts nowhere', async () => {
  const receiver = await engine.register();
  const id = await engine.acceptOne(receiver, NOW);
  const { delivery, group } = await engine.load(id);
  await engine.worker.deliveries.record({
    delivery,
    group,
    now: NOW,
    verdict: { kind: 'delivered' },
    attempt: { at: NOW, durationMs: 1 },
    answered: true,
    gone: false,
    isProbe: false,
    isRedelivery: false,
    lease: await engine.leases.of(id, NOW),
    groupLimit: 10,
  });
  expect(await readReceiver(receiver)).toEqual({ delivered: 0, failed: 0 });
});

test('the counters of a receiver leave with it, and an attempt that was under way brings none back', async () => {
  const receiver = await engine.register();
  const [first, second] = [await engine.acceptOne(receiver, NOW), await engine.acceptOne(receiver, NOW)];
  await engine.settle(first, NOW, 'delivered');
  const key = engine.keys.endpointStats(receiver.id);
  expect(await engine.redis.exists(key)).toBe(1);
  await engine.stores.receivers.remove(receiver.workspaceId, receiver.id, NOW);
  expect(await engine.redis.exists(key)).toBe(0);
  await engine.record(second, { now: NOW + 1, verdict: retryAt(NOW + 2) });
  expect(await engine.redis.exists(key)).toBe(0);
});

test('the callbacks of a workspace share their counters, and those of the workspace include them and every receiver', async () => {
  const receiver = await engine.register();
  const other = await engine.register({ workspaceId: receiver.workspaceId });
  const { workspaceId } = receiver;
  const toCallback = async () => {
    const task = buildTask(workspaceId, { createdAt: NOW });
    const endpoint = buildReceiver(workspaceId, { id: callbackIdOf(task.id), url: 'https://callback.example.com/' });
    await engine.stores.tasks.create(task, { endpoint, encryptedSecret: 'encrypted' });
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
  };
  for (const id of [
    await toCallback(),
    await toCallback(),
    await engine.acceptOne(receiver, NOW),
    await engine.acceptOne(other, NOW),
  ]) {
    await engine.settle(id, NOW + 1, 'delivered');
  }
  expect(await readReceiver(receiver)).toEqual({ delivered: 1, failed: 0 });
  expect(totalOf(await reader().ofWorkspace(workspaceId, '7d'), ATTEMPT_BINS.sum)).toBe(4);
  expect(totalOf(await reader().ofWorkspace('ws_other', '7d'), ATTEMPT_BINS.sum)).toBe(0);
  expect(await engine.redis.exists(engine.keys.callbackStats(workspaceId))).toBe(1);
});
