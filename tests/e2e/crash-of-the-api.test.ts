import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { readQueuedIds } from '../support/queue-state.ts';
import { startRedisGate } from '../support/redis-gate.ts';
import { checkpoint, START, type Report } from '../support/reports.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

/** In the arguments of the script that accepts, and in no other command that the API sends. */
const ACCEPTANCE = '"recordTtl":"';

/** Reports through an API that is killed at the acceptance script: before Redis has it, or when it was executed and the reply is on its way. */
async function reportAndCrash(
  herald: Herald,
  taskId: string,
  reports: readonly Report[],
  withhold: 'command' | 'reply',
): Promise<void> {
  await using gate = await startRedisGate({ port: herald.server.port, stopAt: ACCEPTANCE, withhold });
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

async function prepare(herald: Herald) {
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  // Redis knows the script from then on, so that its first reply is that of the acceptance.
  await herald.executor.report(task.id, START);
  const facts = Array.from({ length: 5 }, (_, index) => checkpoint(`c${index}`));
  return { receiver, id, task, facts };
}

test('an API that dies before Redis has the acceptance leaves nothing, and the fact can be reported again', async () => {
  await using herald = await startHerald({ workers: 0 });
  const { receiver, task, facts } = await prepare(herald);
  await reportAndCrash(herald, task.id, facts, 'command');
  expect(await readQueuedIds(herald.redis)).toEqual({ waiting: [], inWork: [] });

  await herald.startWorker();
  const repeated = await Promise.all(facts.map((fact) => herald.executor.report(task.id, fact)));
  expect(repeated.map(({ duplicate }) => duplicate)).toEqual(facts.map(() => false));
  await herald.settled();
  expect(receiver.requests).toHaveLength(5);
}, 60_000);

test('what an API accepted and died before it knew is in the queue, is delivered once, and is a duplicate when it is reported again', async () => {
  await using herald = await startHerald({ workers: 0 });
  const { receiver, id, task, facts } = await prepare(herald);
  await reportAndCrash(herald, task.id, facts, 'reply');
  const queued = await readQueuedIds(herald.redis);
  expect([new Set(queued.waiting).size, queued.waiting.length]).toEqual([5, 5]);

  const repeated = await Promise.all(facts.map((fact) => herald.executor.report(task.id, fact)));
  expect(repeated.map(({ duplicate }) => duplicate)).toEqual(facts.map(() => true));
  expect(await readQueuedIds(herald.redis)).toEqual(queued);

  await herald.startWorker();
  await herald.settled();
  const delivered = webhooksAt(receiver).map(({ deliveryId }) => deliveryId);
  expect(delivered.sort()).toEqual(repeated.map(({ transitionId }) => deliveryIdOf(transitionId, id)).sort());
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
