import { patient, waitFor } from '@herald/test-kit';
import { readDelivery } from '../support/delivery-state.ts';
import { readQueuedIds } from '../support/queue-state.ts';
import { startRedisGate } from '../support/redis-gate.ts';
import { checkpoint, DONE, START } from '../support/reports.ts';
import { startHerald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

test.concurrent('deliveries whose worker is killed in mid-send come again from another, under the same ids, within 30 s', async () => {
  const count = 5;
  // None may pass its deadline before the other worker has started.
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '', DELIVERY_TIMEOUT: '60s' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver((_request, index) => (index < count ? 'hang' : 200));
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, ...checkpoints(count));
  await receiver.waitForCount(count);
  const [first] = herald.workers;
  await herald.startWorker();
  await first?.kill();
  const killedAt = Date.now();
  await receiver.waitForCount(2 * count, 40_000);
  const webhooks = webhooksAt(receiver);
  expect((webhooks.at(-1)?.request.receivedAt ?? Infinity) - killedAt).toBeLessThan(patient(30_000));
  const [hung, again] = [webhooks.slice(0, count), webhooks.slice(count)].map(
    (sent) => new Map(sent.map(({ deliveryId, request }) => [deliveryId, request.rawBody])),
  );
  expect(again).toEqual(hung);
  await herald.settled();
  // With no retry left to spend, they are delivered only if the crash spent none.
  for (const id of again?.keys() ?? []) {
    expect(await readDelivery(herald.redis, id)).toMatchObject({ status: 'delivered', tries: 1 });
  }
}, 90_000);

/** In the arguments of the script that records attempts, and in no other command that a worker sends. */
const RECORD = '"disableAfterMs":';

test.concurrent.each([
  { dies: 'before Redis has it', withhold: 'command' as const, left: 'pending', requests: 2 },
  { dies: 'before it knows of it', withhold: 'reply' as const, left: 'delivered', requests: 1 },
])(
  'a worker that dies with the record of an attempt, $dies, leaves a $left delivery that is sent $requests times, and no slot in use',
  async ({ withhold, left, requests }) => {
    await using herald = await startHerald({ workers: 0, env: { RETRY_SCHEDULE: '', DESTINATION_CONCURRENCY: '1' } });
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver();
    await workspace.registerReceiver({ url: receiver.url });
    // Redis knows the script from then on, so that its first reply is that of the record.
    const before = await workspace.createTask();
    await herald.startWorker();
    await herald.executor.report(before.id, START, DONE);
    await herald.settled();
    await herald.workers[0]?.stop();
    await using gate = await startRedisGate({ port: herald.server.port, stopAt: RECORD, withhold });
    const victim = await herald.startWorker({ REDIS_URL: gate.url });
    const killed = gate.stopped.then(() => victim.kill());
    const task = await workspace.createTask();
    await herald.executor.report(task.id, START, DONE);
    await killed;
    const [, sent] = webhooksAt(receiver);
    const id = sent?.deliveryId ?? '';
    expect(await readDelivery(herald.redis, id)).toMatchObject({ status: left });

    await herald.startWorker();
    await receiver.waitForCount(1 + requests, 40_000);
    await herald.settled();
    expect(webhooksAt(receiver).filter(({ deliveryId }) => deliveryId === id)).toHaveLength(requests);
    // What Redis knows of is one attempt, however often it was sent.
    expect(await readDelivery(herald.redis, id)).toMatchObject({ status: 'delivered', tries: 1, attempts: 1 });
    const next = await workspace.createTask();
    await herald.executor.report(next.id, START, DONE);
    await receiver.waitForCount(2 + requests);
  },
  60_000,
);

test.concurrent('a worker that starts alone sends everything that was accepted while there was none', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, ...checkpoints(20));
  const queued = await readQueuedIds(herald.redis);
  expect([queued.waiting.length, queued.inWork]).toEqual([20, []]);
  await herald.startWorker();
  await herald.settled();
  expect(receiver.requests).toHaveLength(20);
});

test.concurrent('a worker that stops takes nothing new, and the next one sends the rest without a spent attempt', async () => {
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
  // What it had reserved before arrives. More than three when they have been under way for a second: the destination is
  // slow then, and has other slots.
  const isSent = async () => (await readQueuedIds(herald.redis)).inWork.length === receiver.requests.length;
  await waitFor('all that is in work to be sent', isSent);
  const begun = receiver.requests.length;
  expect(begun).toBeLessThan(20);
  answer.resolve(200);
  await expect(stopped).resolves.toEqual({ code: 0, signal: null });
  expect(receiver.requests).toHaveLength(begun);
  await herald.startWorker();
  await herald.settled();
  const ids = webhooksAt(receiver).map(({ deliveryId }) => deliveryId);
  expect([ids.length, new Set(ids).size]).toEqual([20, 20]);
  const records = await Promise.all(ids.map((id) => readDelivery(herald.redis, id)));
  expect(records).toEqual(ids.map(() => ({ status: 'delivered', reason: undefined, tries: 1, attempts: 1 })));
});

test.concurrent('two workers share a queue and send nothing twice', async () => {
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
