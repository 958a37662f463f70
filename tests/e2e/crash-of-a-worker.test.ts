import { waitFor } from '@herald/test-kit';
import { readDelivery, readDuties } from '../support/delivery-state.ts';
import { checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald } from '../support/start-herald.ts';
import { readWebhook, webhooksAt } from '../support/webhooks.ts';

test('a delivery whose worker is killed in mid-send comes again from another, under the same id, within 40 s', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(['hang', 200]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  const first = readWebhook(await receiver.next());
  const killedAt = Date.now();
  await herald.workers[0]?.kill();
  await herald.startWorker();
  const second = readWebhook(await receiver.next(40_000));
  expect(second.request.receivedAt - killedAt).toBeLessThan(40_000);
  expect(second.deliveryId).toBe(first.deliveryId);
  expect(second.request.rawBody).toEqual(first.request.rawBody);
  await herald.settled();
  // With no retry left to spend, it is delivered only if the crash spent none.
  expect(await readDelivery(herald.redis, first.deliveryId)).toMatchObject({ status: 'delivered', tries: 1 });
}, 60_000);

test('a worker that is killed before its first look at the line leaves everything to the next', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, ...checkpoints(20));
  expect(await readDuties(herald.redis)).toEqual({ open: 20, owed: 0, jobs: 20 });
  await herald.startWorker();
  await herald.settled();
  expect(receiver.requests).toHaveLength(20);
});

test('SIGTERM in mid-send lets the send finish, records it, and exits with 0', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '' } });
  const answer = Promise.withResolvers<number>();
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(() => answer.promise);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  const { deliveryId } = readWebhook(await receiver.next());
  const [worker] = herald.workers;
  const stopped = worker?.stop();
  await herald.waitForLog('process.stopping');
  answer.resolve(200);
  await expect(stopped).resolves.toEqual({ code: 0, signal: null });
  expect(await readDelivery(herald.redis, deliveryId)).toMatchObject({ status: 'delivered', tries: 1, attempts: 1 });
  await herald.startWorker();
  await herald.settled();
  expect(receiver.requests).toHaveLength(1);
});

test('a worker that stops takes nothing new, and the next one sends the rest without a spent attempt', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '', CONCURRENCY: '6' } });
  const answer = Promise.withResolvers<number>();
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(() => answer.promise);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, ...checkpoints(20));
  await receiver.waitForCount(3);
  const stopped = herald.workers[0]?.stop();
  await herald.waitForLog('process.stopping');
  answer.resolve(200);
  await expect(stopped).resolves.toEqual({ code: 0, signal: null });
  expect(receiver.requests).toHaveLength(3);
  await herald.startWorker();
  await herald.settled();
  const ids = webhooksAt(receiver).map(({ deliveryId }) => deliveryId);
  expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  const records = await Promise.all(ids.map((id) => readDelivery(herald.redis, id)));
  expect(records).toEqual(ids.map(() => ({ status: 'delivered', reason: undefined, tries: 1, attempts: 1 })));
});

test('a send that hangs when its worker stops comes to its own deadline, spends no try, and the next worker makes it', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: '2s' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(['hang', 200]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, DONE);
  const { deliveryId } = readWebhook(await receiver.next());
  await expect(herald.workers[0]?.stop()).resolves.toEqual({ code: 0, signal: null });
  expect(await readDelivery(herald.redis, deliveryId)).toMatchObject({ status: 'pending', tries: 0, attempts: 0 });
  await herald.startWorker();
  expect(readWebhook(await receiver.next()).deliveryId).toBe(deliveryId);
  await herald.settled();
  expect(await readDelivery(herald.redis, deliveryId)).toMatchObject({ status: 'delivered', tries: 1, attempts: 1 });
}, 30_000);

test('two workers share a line and send nothing twice', async () => {
  await using herald = await startHerald({ workers: 2 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  await herald.executor.reportBatch(checkpoints(300).map((report) => ({ taskId: task.id, ...report })));
  await herald.settled();
  expect(receiver.requests).toHaveLength(300);
  await waitFor('both to have sent', () =>
    herald.workers.every(({ process }) => process.output().includes('"delivered"')),
  );
});

function checkpoints(count: number) {
  return Array.from({ length: count }, (_, index) => checkpoint(`c${index}`));
}
