import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { delayProbe, isBreakerOpen, isQueued, readQueuedIds } from '../../support/queue-state.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { createMood, emitMany, expectNoInternalErrors, expectNothingLeft } from './fleet.ts';

jest.setTimeout(120_000);

const ENV = { DELIVERY_TIMEOUT: '15s', RETRY_SCHEDULE: '1h' };

/** A pending delivery whose next try is an hour away, and a receiver that would take it now. */
async function preparePending(herald: Herald) {
  const workspace = await herald.createWorkspace();
  const mood = createMood(500);
  const receiver = await herald.startReceiver(mood.respond);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const [transition = ''] = await emitMany(herald, workspace, 1);
  await receiver.waitForCount(1);
  const id = deliveryIdOf(transition, registered.id);
  const { queue } = shardKeys();
  const group = registered.id;
  await waitFor('the retry to wait', async () => (await herald.redis.zscore(queue.waiting(group), id)) !== null);
  mood.set(200);
  return { workspace, mood, receiver, id, group };
}

/** As a worker leaves a delivery that dies with it: under a lease that ends at a time (epoch ms), due once the lease has ended. */
async function leaveUnderLease(herald: Herald, id: string, group: string, endsAt: number): Promise<void> {
  const { queue, delivery } = shardKeys();
  const dueAt = Date.now() - 1_000;
  await herald.redis
    .multi()
    .zrem(queue.waiting(group), id)
    .zrem(queue.later, group)
    .hset(delivery(id), 'due', dueAt)
    .hset(queue.group(group), 'n', 1)
    .hdel(queue.group(group), 'p')
    .hincrby(queue.settings, 'n', -1)
    .zadd(queue.leases, endsAt, `${1e13 + dueAt}|${group}|of-the-dead|${id}`)
    .exec();
}

test.concurrent.each(sized([2], [1, 2, 4]))(
  '%i workers find a delivery when its lease has ended, not before, and send it once',
  async (workers) => {
    await using herald = await startHerald({ workers, env: ENV });
    const { receiver, mood, id, group } = await preparePending(herald);
    // Longer than from one round of recovery to the next.
    const endsAt = Date.now() + 7_000;
    await leaveUnderLease(herald, id, group, endsAt);
    await mood.waitForAccepted(1, 20_000);
    expect(receiver.requests.at(-1)?.receivedAt).toBeGreaterThanOrEqual(endsAt);
    await expectNothingLeft(herald.redis);
    expect(mood.repeated()).toEqual([]);
    expect(herald.logs()).toContain('queue.job_stalled');
  },
);

test.concurrent('a send that takes longer than a lease is made once: its worker lives, and says so', async () => {
  await using herald = await startHerald({ workers: 2, env: { ...ENV, DELIVERY_TIMEOUT: '40s' } });
  const workspace = await herald.createWorkspace();
  const mood = createMood({ status: 200, delayMs: 27_000 });
  const receiver = await herald.startReceiver(mood.respond);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const [transition = ''] = await emitMany(herald, workspace, 1);
  const id = deliveryIdOf(transition, registered.id);
  await receiver.waitForCount(1);
  await waitFor('the attempt to be recorded', async () => !(await isQueued(herald.redis, id)), 35_000);
  await expectNothingLeft(herald.redis);
  expect([...mood.accepted]).toEqual([[id, 1]]);
  expect(herald.logs()).not.toContain('queue.job_stalled');
});

test.concurrent('what is due while every mark that wakes a worker is lost is sent within seconds', async () => {
  await using herald = await startHerald({ workers: 4, env: ENV });
  const workspace = await herald.createWorkspace();
  const mood = createMood(200);
  const { url } = await herald.startReceiver(mood.respond);
  await workspace.registerReceiver({ url });
  for (const { process } of herald.workers) process.kill('SIGSTOP');
  const transitions = await emitMany(herald, workspace, 120);
  // As a worker leaves it that took a mark and died. Redis has given one to each that waited.
  const { queue } = shardKeys();
  await herald.redis.del(...[0, 1, 2, 3].map((ring) => queue.wake(ring as 0 | 1 | 2 | 3)));
  expect((await readQueuedIds(herald.redis)).waiting).toHaveLength(120);
  for (const { process } of herald.workers) process.kill('SIGCONT');
  await mood.waitForAccepted(transitions.length, 20_000);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});

test.concurrent('a redelivery through an open breaker is sent once', async () => {
  await using herald = await startHerald({ workers: 2, env: { ...ENV, DELIVERY_TIMEOUT: '10s' } });
  const { workspace, mood, receiver, id, group } = await preparePending(herald);
  mood.set('reset');
  await emitMany(herald, workspace, 8);
  await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, group));
  await delayProbe(herald.redis, group);
  await waitFor('nothing to be in flight', async () => (await readQueuedIds(herald.redis)).inWork.length === 0);
  // Rounds of recovery come and go while it is in flight.
  mood.set({ status: 200, delayMs: 7_000 });
  await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`);
  await mood.waitForAccepted(1, 10_000);
  await waitFor('the attempt to be recorded', async () => !(await isQueued(herald.redis, id)), 20_000);
  const sent = receiver.requests.filter(({ headers }) => headers['x-service-delivery'] === id);
  expect(sent).toHaveLength(2); // the first try, and the redelivery
  expectNoInternalErrors(herald);
});

test.concurrent('a redelivery that waits for a free slot is sent once, as soon as there is one', async () => {
  await using herald = await startHerald({
    env: { ...ENV, DELIVERY_TIMEOUT: '10s', DESTINATION_CONCURRENCY: '1', CONCURRENCY: '2' },
  });
  const { workspace, mood, receiver, id } = await preparePending(herald);
  // The only slot is taken for a while.
  mood.set({ status: 200, delayMs: 3_000 });
  await emitMany(herald, workspace, 1);
  await receiver.waitForCount(2);
  await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`);
  await mood.waitForAccepted(2, 15_000);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});
