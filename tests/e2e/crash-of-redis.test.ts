import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { limitMemory } from '../support/limit-memory.ts';
import { problemOf } from '../support/problems.ts';
import { checkpoint, DONE, START } from '../support/reports.ts';
import { startLoad } from '../support/start-load.ts';
import { startHerald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

// What everysec may lose is Redis' promise; ours is about what Redis has kept.
const KEEPS_ALL = { appendonly: true, args: ['--appendfsync', 'always'] };

const LANES = 6;
test('Redis killed and restarted under load loses nothing that was answered, and answers 503 meanwhile', async () => {
  await using herald = await startHerald({ redis: KEEPS_ALL, env: { RETRY_SCHEDULE: '10ms,1s,1s,1s' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const tasks = await Promise.all(Array.from({ length: LANES }, () => workspace.createTask()));
  for (const task of tasks) await herald.executor.report(task.id, START);

  const load = startLoad(
    herald,
    tasks.map((task) => task.id),
  );
  await waitFor('the load to run', () => load.accepted.length >= 200);
  await herald.server.kill();
  // Each refusal may take as long as a command may.
  await waitFor('every lane to be refused', () => load.refused.length >= 2 * LANES, 30_000);
  const ready = await herald.request('GET', '/readyz');
  await herald.server.restart();
  const before = load.accepted.length;
  await waitFor('the load to go on', () => load.accepted.length >= before + 200, 20_000);
  await load.stop();
  await herald.settled(60_000);

  expect(ready.status).toBe(503);
  for (const answer of load.refused) {
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  }
  // A command may take 5 s.
  expect(Math.max(...load.refused.map(({ durationMs }) => durationMs))).toBeLessThan(10_000);
  const webhooks = webhooksAt(receiver);
  const deliveryIds = new Set(webhooks.map(({ deliveryId }) => deliveryId));
  const lost = load.accepted.filter((transitionId) => !deliveryIds.has(deliveryIdOf(transitionId, id)));
  expect(lost).toEqual([]);
  // One id per transition and endpoint, also for those that were sent twice around the crash.
  expect(new Set(webhooks.map(({ body }) => body.id)).size).toBe(deliveryIds.size);
  expect(deliveryIds.size).toBe(load.accepted.length);
}, 120_000);

test('deliveries that wait for a retry survive a killed Redis', async () => {
  await using herald = await startHerald({ redis: KEEPS_ALL, env: { RETRY_SCHEDULE: '4s,4s,4s' } });
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver([500, 500, 500, 200]);
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START, ...['c1', 'c2', 'c3'].map((id) => checkpoint(id)));
  await receiver.waitForCount(3);
  await waitFor('all to wait', () => herald.logs().split('"verdict":"retry"').length > 3);
  await herald.server.kill();
  await herald.server.restart();
  await receiver.waitForCount(6, 20_000);
  await herald.settled();
  expect(receiver.requests).toHaveLength(6);
  expect(new Set(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).size).toBe(3);
}, 60_000);

test('a Redis that hangs is answered 503 in time, and all goes on when it comes to itself', async () => {
  await using herald = await startHerald();
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  process.kill(herald.server.pid, 'SIGSTOP');
  const answers = await Promise.all([
    herald.executor.tryReport(task.id, DONE),
    workspace.request('GET', '/api/public/webhooks'),
    workspace.request('POST', '/tasks', { body: {} }),
    herald.request('GET', '/readyz'),
  ]).finally(() => process.kill(herald.server.pid, 'SIGCONT'));
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  expect(Math.max(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(12_000);
  expect(answers[0].headers['retry-after']).toMatch(/^\d+$/);
  // Until the connection has answered again, the API may still refuse.
  const isAccepted = async () => (await herald.executor.tryReport(task.id, DONE)).status === 200;
  await waitFor('the API to go on', isAccepted, 20_000);
  await receiver.next();
  await herald.settled();
  expect(receiver.requests).toHaveLength(1);
}, 60_000);

test('a Redis that is out of memory refuses with 503, tells nobody why, and recovers', async () => {
  await using herald = await startHerald();
  const workspace = await herald.createWorkspace();
  const receiver = await herald.startReceiver();
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  await limitMemory(herald.redis, 1);
  const refused = [
    await herald.executor.tryReport(task.id, DONE),
    await workspace.request('POST', '/tasks', { body: {} }),
    await workspace.request('POST', '/api/public/webhooks', { body: { url: receiver.url } }),
  ];
  await limitMemory(herald.redis, 0);
  for (const answer of refused) {
    expect(problemOf(answer)).toMatchObject({ status: 503, code: 'unavailable' });
    expect(answer.text).not.toMatch(/OOM|maxmemory|Redis|script/);
  }
  await herald.executor.report(task.id, DONE);
  await receiver.next();
}, 30_000);
