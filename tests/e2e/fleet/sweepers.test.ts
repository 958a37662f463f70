import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { hasJob, shardKeys } from '../../support/delivery-state.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { createMood, destinationOf, emitMany, expectNothingLeft, isBreakerOpen } from './fleet.ts';

import.meta.jest.setTimeout(90_000);

const ENV = { DELIVERY_TIMEOUT: '3s', RETRY_SCHEDULE: '1h' };

/** A pending delivery whose next try is an hour away, and a receiver that would take it now. */
async function preparePending(herald: Herald) {
  const workspace = await herald.createWorkspace();
  const mood = createMood(500);
  const receiver = await herald.startReceiver(mood.respond);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const [transition = ''] = await emitMany(herald, workspace, 1);
  await receiver.waitForCount(1);
  const id = deliveryIdOf(transition, registered.id);
  const delayed = `${shardKeys().bullPrefix}:deliveries:delayed`;
  await waitFor('the job to be delayed', async () => (await herald.redis.zscore(delayed, id)) !== null);
  mood.set(200);
  return { workspace, mood, receiver, transition, id, destination: await destinationOf(herald.redis, registered.id) };
}

/** Makes it due an hour ago; its job, where there is one, still waits. */
const makeDue = (herald: Herald, id: string) =>
  herald.redis.hset(shardKeys().delivery(id), 'due', Date.now() - 3_600_000);

/** An hour's audit interval is tested by moving its end. */
const auditNow = (herald: Herald, transition: string) => herald.redis.zadd(shardKeys().open, 'XX', 0, transition);

async function removeJob(herald: Herald, id: string): Promise<void> {
  const { bullPrefix } = shardKeys();
  const line = `${bullPrefix}:deliveries`;
  await herald.redis.multi().zrem(`${line}:delayed`, id).del(`${line}:${id}`).exec();
}

test.each([1, 2, 4])('%i workers find a pending delivery whose job is gone, and send it once', async (workers) => {
  await using herald = await startHerald({ workers, env: ENV });
  const { mood, transition, id } = await preparePending(herald);
  await removeJob(herald, id);
  await makeDue(herald, id);
  await auditNow(herald, transition);
  await mood.waitForAccepted(1, 10_000);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
  expect(herald.logs()).toContain('sweeper.job_missing');
});

test('an audit leaves alone what has its job, and comes again later', async () => {
  await using herald = await startHerald({ workers: 2, env: ENV });
  const { receiver, transition, id } = await preparePending(herald);
  await auditNow(herald, transition);
  const { open } = shardKeys();
  await waitFor('the audit', async () => Number(await herald.redis.zscore(open, transition)) > Date.now());
  expect(await hasJob(herald.redis, id)).toBe(true);
  expect(receiver.requests).toHaveLength(1);
  expect(herald.logs()).not.toContain('sweeper.job_missing');
});

test('a backlog that nobody serves is found', async () => {
  await using herald = await startHerald({ workers: 2, env: ENV });
  const { mood, id, destination } = await preparePending(herald);
  await removeJob(herald, id);
  await makeDue(herald, id);
  // As a worker leaves it that dies right after.
  const { backlog, backlogs } = shardKeys();
  await herald.redis
    .multi()
    .zadd(backlog(destination), 2, id)
    .zadd(backlogs, Date.now() + 2_000, destination)
    .exec();
  const leftAt = Date.now();
  await mood.waitForAccepted(1, 10_000);
  expect(Date.now() - leftAt).toBeLessThan(6_000);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});

test('a delivery in a backlog that has a job too is sent once', async () => {
  await using herald = await startHerald({ workers: 2, env: ENV });
  const { mood, id, destination } = await preparePending(herald);
  mood.set({ status: 200, delayMs: 1_500 });
  await makeDue(herald, id);
  const { backlog, backlogs, bullPrefix } = shardKeys();
  const delayed = `${bullPrefix}:deliveries:delayed`;
  // Both come due at the same time.
  await herald.redis
    .multi()
    .zadd(backlog(destination), 2, id)
    .zadd(backlogs, 0, destination)
    .zadd(delayed, 'XX', 0, id)
    .zadd(`${bullPrefix}:deliveries:marker`, 0, '1')
    .exec();
  await mood.waitForAccepted(1, 10_000);
  await expectNothingLeft(herald.redis);
  expect([...mood.accepted]).toEqual([[id, 1]]);
});

test('a redelivery through an open breaker is sent once, although a sweeper sees to it while it is in flight', async () => {
  await using herald = await startHerald({ workers: 2, env: { ...ENV, DELIVERY_TIMEOUT: '10s' } });
  const { workspace, mood, receiver, id, destination } = await preparePending(herald);
  mood.set('reset');
  await emitMany(herald, workspace, 8);
  await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, destination));
  mood.set({ status: 200, delayMs: 4_000 });
  await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`);
  await mood.waitForAccepted(1, 3_000);
  // The mark "attempt owed" is due after a second, and its next turn comes in half a minute.
  const { owed } = shardKeys();
  await waitFor('the sweeper', async () => Number(await herald.redis.zscore(owed, id)) > Date.now() + 10_000);
  await waitFor('the attempt to be recorded', async () => (await herald.redis.zscore(owed, id)) === null);
  const sent = receiver.requests.filter(({ headers }) => headers['x-service-delivery'] === id);
  expect(sent).toHaveLength(2); // the first try, and the redelivery
});

test('a redelivery that waits for room is sent once, however often a sweeper sees to it', async () => {
  await using herald = await startHerald({
    env: { ...ENV, DELIVERY_TIMEOUT: '10s', DESTINATION_CONCURRENCY: '1', CONCURRENCY: '2' },
  });
  const { workspace, mood, receiver, id } = await preparePending(herald);
  // The only place is taken for a while.
  mood.set({ status: 200, delayMs: 3_000 });
  await emitMany(herald, workspace, 1);
  await receiver.waitForCount(2);
  await workspace.request('POST', `/api/public/deliveries/${id}/redeliver`);
  await mood.waitForAccepted(2, 15_000);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});

test('jobs that were never added, because the API died first, are added by whichever worker comes', async () => {
  await using herald = await startHerald({ workers: 4, env: ENV });
  const workspace = await herald.createWorkspace();
  const mood = createMood(200);
  const { url } = await herald.startReceiver(mood.respond);
  const registered = await workspace.registerReceiver({ url });
  for (const { process } of herald.workers) process.kill('SIGSTOP');
  const transitions = await emitMany(herald, workspace, 200);
  const { bullPrefix, owed } = shardKeys();
  const line = `${bullPrefix}:deliveries`;
  const undo = herald.redis.multi().del(`${line}:wait`, `${line}:marker`);
  for (const each of transitions) undo.del(`${line}:${deliveryIdOf(each, registered.id)}`).zadd(owed, 0, each);
  await undo.exec();
  for (const { process } of herald.workers) process.kill('SIGCONT');
  await mood.waitForAccepted(transitions.length, 20_000);
  await expectNothingLeft(herald.redis);
  expect(mood.accepted.size).toBe(transitions.length);
  expect(mood.repeated()).toEqual([]);
});
