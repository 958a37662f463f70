import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { hasJob, readDelivery, readDuties } from '../support/delivery-state.ts';
import { startRedisGate } from '../support/redis-gate.ts';
import { checkpoint, START, type Report } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

/** In every command by which BullMQ puts a job in line, and in no other that the API sends. */
const ADDING_OF_JOBS = ':deliveries:wait';

/** Reports through an API that is killed after the acceptance script's reply, the moment it starts to add the jobs. */
async function reportAndCrash(herald: Herald, taskId: string, ...reports: readonly Report[]): Promise<void> {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt: ADDING_OF_JOBS });
  const victim = await herald.startApi({ REDIS_URL: gate.url });
  const killed = gate.stopped.then(() => victim.kill());
  const request = herald.request('POST', '/api/internal/transitions', {
    key: herald.executor.key,
    body: { transitions: reports.map((report) => ({ taskId, ...report })) },
    via: victim,
  });
  await expect(request).rejects.toThrow('fetch failed'); // nobody is told
  await killed;
}

test('the sweeper delivers, once, what an API accepted and died before it added the jobs', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const [receiver, callback] = [await herald.startReceiver(), await herald.startReceiver()];
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask({ callback: { url: callback.url } });
  const facts = Array.from({ length: 5 }, (_, index) => checkpoint(`c${index}`));
  await reportAndCrash(herald, task.id, START, ...facts);

  // What the crash left: accepted and owed, and nothing in line.
  expect(await readDuties(herald.redis)).toEqual({ open: 5, owed: 5, jobs: 0 });

  await herald.startWorker();
  await herald.settled(20_000);
  const repeated = await Promise.all(facts.map((fact) => herald.executor.report(task.id, fact)));
  await herald.settled();
  expect(repeated.map(({ duplicate }) => duplicate)).toEqual([true, true, true, true, true]);
  const expected = repeated.map(({ transitionId }) => deliveryIdOf(transitionId, id)).sort();
  expect(
    webhooksAt(receiver)
      .map(({ deliveryId }) => deliveryId)
      .sort(),
  ).toEqual(expected);
  expect(callback.requests).toHaveLength(5);
  expect(herald.logs()).toContain('sweeper.jobs_owed');
}, 60_000);

test('a repeated report through another API completes at once what the crash left, under the same ids', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await reportAndCrash(herald, task.id, START, checkpoint('c1'));
  expect(await readDuties(herald.redis)).toEqual({ open: 1, owed: 1, jobs: 0 });

  const repeated = await herald.executor.report(task.id, checkpoint('c1'));
  const deliveryId = deliveryIdOf(repeated.transitionId, id);
  expect(repeated.duplicate).toBe(true);
  // Without any worker, and so without a sweeper.
  expect(await readDuties(herald.redis)).toEqual({ open: 1, owed: 0, jobs: 1 });
  expect(await hasJob(herald.redis, deliveryId)).toBe(true);

  await herald.startWorker();
  const { headers } = await receiver.next();
  expect(headers['x-service-delivery']).toBe(deliveryId);
  await herald.settled();
  expect(await readDelivery(herald.redis, deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(receiver.requests).toHaveLength(1);
}, 60_000);

test('a duty that two sweepers and a repeated report complete at the same time is delivered once', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  const facts = Array.from({ length: 20 }, (_, index) => checkpoint(`c${index}`));
  await reportAndCrash(herald, task.id, START, ...facts);
  await Promise.all([
    herald.startWorker(),
    herald.startWorker(),
    ...facts.map((fact) => herald.executor.report(task.id, fact)),
  ]);
  await herald.settled();
  expect(receiver.requests).toHaveLength(20);
  expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).size).toBe(20);
}, 60_000);

test('an API that is killed under load loses nothing that it answered', async () => {
  await using herald = await startHerald({ apis: 2 });
  const workspace = await herald.createWorkspace(herald.apis[1]);
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const [victim] = herald.apis;
  if (!victim) throw new Error('an API was started');
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  const answered: string[] = [];
  let next = 0;
  const load = async () => {
    while (!victim.process.hasExited() && next < 20_000) {
      const path = `/api/internal/tasks/${task.id}/transitions`;
      const body = checkpoint(`c${next++}`);
      const answer = await herald
        .request('POST', path, { key: herald.executor.key, body, via: victim })
        .catch(() => undefined);
      if (answer?.status === 200) answered.push((answer.body as { transitionId: string }).transitionId);
    }
  };
  const loads = Array.from({ length: 8 }, load);
  await waitFor('some answers', () => answered.length >= 100);
  await victim.kill();
  await Promise.all(loads);
  await herald.settled(30_000);
  const delivered = new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId));
  const lost = answered.filter((transitionId) => !delivered.has(deliveryIdOf(transitionId, id)));
  expect(lost).toEqual([]);
  expect(receiver.requests).toHaveLength(delivered.size);
}, 60_000);

test('an API that is told to stop answers what it has taken, and exits with 0', async () => {
  await using herald = await startHerald();
  const answer = Promise.withResolvers<number>();
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver(() => answer.promise);
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const sent = workspace.sendTest(id); // answered only when the receiver has
  await receiver.next();
  const stopped = herald.apis[0]?.stop();
  await herald.waitForLog('process.stopping');
  answer.resolve(202);
  expect(await sent).toMatchObject({ status: 200, body: { delivered: true, receiverStatus: 202 } });
  const answeredAt = performance.now();
  await expect(stopped).resolves.toEqual({ code: 0, signal: null });
  expect(performance.now() - answeredAt).toBeLessThan(4_000); // not for as long as the connection could be kept
}, 30_000);

test('an API stops in time though its clients go on asking on connections that they keep', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const [api] = herald.apis;
  if (!api) throw new Error('an API was started');
  let answered = 0;
  const ask = async () => {
    const via = { key: workspace.key, via: api };
    while (!api.process.hasExited() && answered < 1_000_000) {
      await herald.request('GET', '/api/public/webhooks', via).then(
        () => answered++,
        () => undefined, // a connection that is closed, or refused
      );
    }
  };
  const asking = Array.from({ length: 4 }, ask);
  await waitFor('the clients to ask', () => answered >= 100);
  const startedAt = performance.now();
  await expect(api.stop()).resolves.toEqual({ code: 0, signal: null });
  expect(performance.now() - startedAt).toBeLessThan(8_000);
  await Promise.all(asking);
}, 60_000);
