import { callbackIdOf, deliveryIdOf } from '@herald/core';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { expediteTry } from '../../support/queue-state.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { runCli } from '../../support/run-cli.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

let herald: Herald;
beforeAll(async () => {
  const env = { RETRY_SCHEDULE: '10m,10m', CALLBACK_RETRY_SCHEDULE: '100ms,10m', DELIVERY_TIMEOUT: '5s' };
  herald = await startHerald({ env });
});
afterAll(() => herald[Symbol.asyncDispose]());

/** Reports so many check-ins of a Task; returns the ids of their transitions. */
async function checkIn(taskId: string, count: number): Promise<string[]> {
  await herald.executor.report(taskId, START);
  const reports = Array.from({ length: count }, (_, index) => ({ taskId, ...checkpoint(`c${index}`) }));
  const results = await herald.executor.reportBatch(reports);
  return results.map((result) => ('transitionId' in result ? result.transitionId : ''));
}

test('a receiver asks for order, reads what it asked for, and a refused change changes nothing', async () => {
  const workspace = await herald.createWorkspace();
  const { patchReceiver, readReceiver } = createDeliveryClient(workspace);
  const url = 'https://hooks.example.com/in';
  const registered = await workspace.registerReceiver({ url, ordering: 'task', orderingTimeout: '2d' });
  expect(registered).toMatchObject({ ordering: 'task', orderingTimeout: '48h' });
  expect(await patchReceiver(registered, { orderingTimeout: '90m' })).toMatchObject({
    ordering: 'task',
    orderingTimeout: '90m',
  });
  const body = { ordering: 'none', orderingTimeout: '6d' };
  const refused = problemOf(await workspace.request('PATCH', `/api/public/webhooks/${registered.id}`, { body }));
  expect(refused).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ path: 'orderingTimeout' }] });
  expect(await readReceiver(registered)).toMatchObject({ ordering: 'task', orderingTimeout: '90m' });
  expect(await patchReceiver(registered, { ordering: 'none' })).toMatchObject({
    ordering: 'none',
    orderingTimeout: '90m',
  });
});

test('what waits says for what and until when, and goes in its turn, or at once and marked if somebody asks for it', async () => {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500, 200, 200, 200]);
  const registered = await workspace.registerReceiver({ url: receiver.url, ordering: 'task', orderingTimeout: '1h' });
  const { id: taskId } = await workspace.createTask();
  const ids = (await checkIn(taskId, 3)).map((id) => deliveryIdOf(id, registered.id));
  const [first = '', second = '', third = ''] = ids;
  await deliveries.waitForAttempts(first, 1);

  const waiting = await deliveries.read(second);
  expect(waiting).toMatchObject({ status: 'pending', tries: 0, waitingFor: first });
  expect(Date.parse(waiting.nextAttemptAt ?? '') - Date.parse(waiting.createdAt)).toBe(3_600_000);
  const { deliveries: listed } = await deliveries.list(registered);
  const waitsFor = new Map(listed.map(({ id, waitingFor }) => [id, waitingFor]));
  expect(ids.map((id) => waitsFor.get(id))).toEqual([undefined, first, first]);
  const shown = await runCli(['deliveries', 'show', second, '--json'], herald.topology.env);
  expect(JSON.parse(shown.stdout)).toMatchObject({ waitingFor: first });

  await deliveries.redeliver(third);
  const { request } = await deliveries.waitForStatus(third, 'delivered');
  expect(request.headers).toMatchObject({ 'x-service-ordering': 'released' });
  await expediteTry(herald.redis, registered.id, first);
  await deliveries.waitForStatus(second, 'delivered');
  const sent = webhooksAt(receiver).map(({ deliveryId, request: { headers } }) => [
    deliveryId,
    headers['x-service-ordering'],
  ]);
  expect(sent).toEqual([
    [first, undefined],
    [third, 'released'],
    [first, undefined],
    [second, undefined],
  ]);
  expect(await deliveries.read(second)).not.toHaveProperty('waitingFor');
});

test('a callback gets the events of its Task in order, and a PATCH ends that', async () => {
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500, 200, 200]);
  const task = await workspace.createTask({ callback: { url: receiver.url, ordering: 'task', orderingTimeout: '1h' } });
  expect(task.callback).toMatchObject({ ordering: 'task', orderingTimeout: '1h' });
  const ids = (await checkIn(task.id, 2)).map((id) => deliveryIdOf(id, callbackIdOf(task.id)));
  for (const id of ids) await deliveries.waitForStatus(id, 'delivered');
  const sequences = () => webhooksAt(receiver).map(({ body }) => body.sequence);
  expect(sequences()).toEqual([1, 1, 2]);
  const patched = bodyOf(await workspace.patchCallback(task.id, { ordering: 'none' }), 200);
  expect(patched).toMatchObject({ ordering: 'none' });
  expect((await workspace.readTask(task.id)).callback).toEqual(patched);
});
