import { waitFor, type Receiver } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { isQueued } from '../../support/queue-state.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '10m', DELIVERY_TIMEOUT: '3s' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function startWorkspace(receiver: Receiver, by = herald) {
  const workspace = await by.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, registered, deliveries: createDeliveryClient(workspace) };
}

test('disabling by PATCH cancels what is pending and records what follows as canceled', async () => {
  const receiver = await herald.startReceiver([500]);
  const { registered, deliveries } = await startWorkspace(receiver);
  const waiting = (await deliveries.emit()).to(registered);
  await deliveries.waitForAttempts(waiting, 1);
  const patched = await deliveries.patchReceiver(registered, { enabled: false });
  expect(patched).toMatchObject({ enabled: false, disabledReason: 'by_request', health: { state: 'disabled' } });
  const canceled = await deliveries.waitForStatus(waiting, 'canceled');
  expect(canceled).toMatchObject({ reason: 'receiver_disabled', nextAttemptAt: null, attempts: [{ status: 500 }] });
  const missed = (await deliveries.emit()).to(registered);
  expect(await deliveries.read(missed)).toMatchObject({ status: 'canceled', reason: 'receiver_disabled', tries: 0 });
  await waitFor('it to leave the queue', async () => !(await isQueued(herald.redis, waiting)));
  expect(receiver.requests).toHaveLength(1);
});

test('a receiver that is registered disabled records and sends nothing until it is enabled', async () => {
  const receiver = await herald.startReceiver();
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url, enabled: false });
  const missed = await deliveries.emit();
  expect(await deliveries.read(missed.to(registered))).toMatchObject({ status: 'canceled' });
  await deliveries.patchReceiver(registered, { enabled: true });
  const later = await deliveries.emit();
  await deliveries.waitForStatus(later.to(registered), 'delivered');
  expect(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).toEqual([later.to(registered)]);
});

test('a removed receiver gets nothing more: what is pending ends as canceled', async () => {
  const receiver = await herald.startReceiver([500]);
  const { workspace, registered, deliveries } = await startWorkspace(receiver);
  const emitted = await deliveries.emit();
  const id = emitted.to(registered);
  await deliveries.waitForAttempts(id, 1);
  bodyOf(await workspace.request('DELETE', `/api/public/webhooks/${registered.id}`), 200);
  const canceled = await deliveries.waitForStatus(id, 'canceled');
  expect(canceled).toMatchObject({ reason: 'receiver_removed', nextAttemptAt: null, attempts: [{ status: 500 }] });
  expect((await deliveries.listByTask(emitted.taskId)).deliveries).toMatchObject([{ id, status: 'canceled' }]);
  const list = await workspace.request('GET', `/api/public/webhooks/${registered.id}/deliveries`);
  expect(problemOf(list)).toMatchObject({ status: 404, code: 'receiver_not_found' });
  expect(problemOf(await deliveries.tryRedeliver(id)).status).toBe(404);
  await waitFor('it to leave the queue', async () => !(await isQueued(herald.redis, id)));
  expect(receiver.requests).toHaveLength(1);
});

test('a new url resets the health, and the pending retry goes there with the same id and bytes', async () => {
  await using quick = await startHerald({ env: { RETRY_SCHEDULE: '1s,10m' } });
  const [old, replacement] = [await quick.startReceiver([500]), await quick.startReceiver()];
  const { registered, deliveries } = await startWorkspace(old, quick);
  const id = (await deliveries.emit()).to(registered);
  await deliveries.waitForAttempts(id, 1);
  expect((await deliveries.readReceiver(registered)).health).toMatchObject({
    state: 'failing',
    consecutiveFailures: 1,
  });
  const patched = await deliveries.patchReceiver(registered, { url: replacement.url });
  expect(patched).toMatchObject({
    url: replacement.url,
    health: { state: 'healthy', consecutiveFailures: 0, lastSuccessAt: null },
  });
  const delivery = await deliveries.waitForStatus(id, 'delivered');
  expect(delivery.attempts).toMatchObject([{ status: 500 }, { status: 200 }]);
  expect(webhooksAt(replacement)).toMatchObject([{ deliveryId: id }]);
  expect(replacement.requests[0]?.rawBody).toEqual(old.requests[0]?.rawBody);
  expect(old.requests).toHaveLength(1);
});

test('what waits for a dead receiver goes to the new url soon after the PATCH', async () => {
  const [dead, replacement] = [await herald.startReceiver(['hang']), await herald.startReceiver()];
  const { registered, deliveries } = await startWorkspace(dead);
  const emitted = await Promise.all(Array.from({ length: 40 }, () => deliveries.emit()));
  // The breaker is open: what is due waits.
  await deliveries.waitForReceiver(registered, ({ health }) => health.state === 'paused' && health.backlog >= 10);
  const waiting = await Promise.all(emitted.map(({ to }) => deliveries.read(to(registered))));
  const untried = waiting.filter(({ tries }) => tries === 0);
  await deliveries.patchReceiver(registered, { url: replacement.url });
  // Some of them were just being sent to the old url, and fail there.
  const tried = [];
  for (const { id } of untried) tried.push(await deliveries.waitUntil(id, ({ tries }) => tries > 0, 15_000));
  const delivered = tried.filter(({ status }) => status === 'delivered');
  expect(delivered.length).toBeGreaterThanOrEqual(10);
  // Each once. What failed at the old url may have come meanwhile too.
  const arrived = webhooksAt(replacement).map(({ deliveryId }) => deliveryId);
  expect(arrived).toEqual(expect.arrayContaining(delivered.map(({ id }) => id)));
  expect(new Set(arrived).size).toBe(arrived.length);
});

test('what a Retry-After of the old url holds back goes to the new url soon after the PATCH', async () => {
  const busy = await herald.startReceiver([{ status: 503, headers: { 'retry-after': '600' } }]);
  const replacement = await herald.startReceiver();
  const { registered, deliveries } = await startWorkspace(busy);
  await deliveries.waitForAttempts((await deliveries.emit()).to(registered), 1);
  const held = await Promise.all(Array.from({ length: 3 }, () => deliveries.emit()));
  await deliveries.waitForReceiver(registered, ({ health }) => health.backlog === held.length);
  const patched = await deliveries.patchReceiver(registered, { url: replacement.url });
  expect(patched.health).toMatchObject({ state: 'healthy' });
  for (const { to } of held) await deliveries.waitForStatus(to(registered), 'delivered');
  expect(
    webhooksAt(replacement)
      .map(({ deliveryId }) => deliveryId)
      .sort(),
  ).toEqual(held.map(({ to }) => to(registered)).sort());
});

test('a dead receiver keeps no other of its host waiting, and shows none as paused', async () => {
  const receiver = await herald.startReceiver(({ path }) => (path === '/healthy' ? 200 : 'hang'));
  const { workspace, registered, deliveries } = await startWorkspace(receiver);
  await Promise.all(Array.from({ length: 40 }, () => deliveries.emit()));
  await deliveries.waitForReceiver(registered, ({ health }) => health.state === 'paused' && health.backlog >= 10);
  const healthy = await workspace.registerReceiver({ url: `${receiver.origin}/healthy` });
  const emitted = await deliveries.emit();
  await deliveries.waitForStatus(emitted.to(healthy), 'delivered', 5_000);
  expect((await deliveries.readReceiver(healthy)).health).toMatchObject({ state: 'healthy', backlog: 0 });
});
