import { waitFor, type Answer } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { startHerald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

test('SIGTERM lets a send in flight finish, records it, and exits with 0', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '10m', DELIVERY_TIMEOUT: '10s' } });
  const held = Promise.withResolvers<Answer>();
  const receiver = await herald.startReceiver(() => held.promise);
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const emitted = await deliveries.emit();
  await receiver.next();
  const [worker] = herald.workers;
  const stopped = worker?.stop();
  await herald.waitForLog('"process.stopping"', worker);
  const late = await deliveries.emit(); // nobody takes it any more
  held.resolve({ status: 200 });
  expect(await stopped).toEqual({ code: 0, signal: null });
  const delivery = await deliveries.read(emitted.to(registered));
  expect(delivery).toMatchObject({ status: 'delivered', tries: 1, attempts: [{ status: 200 }] });
  expect(await deliveries.read(late.to(registered))).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  expect(receiver.requests).toHaveLength(1);

  await herald.startWorker();
  await deliveries.waitForStatus(late.to(registered), 'delivered');
  expect(webhooksAt(receiver).map(({ deliveryId }) => deliveryId)).toEqual(
    [emitted, late].map(({ to }) => to(registered)),
  );
});

test('SIGTERM while a receiver never answers exits with 0 in time, spends no try, and another worker goes on', async () => {
  const DEADLINE_MS = 5_000;
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '10m', DELIVERY_TIMEOUT: `${DEADLINE_MS}ms` } });
  let isDead = true;
  const receiver = await herald.startReceiver(() => (isDead ? 'hang' : 200));
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  // More than a destination may have in work before it has answered, so that some wait when the worker stops.
  const emitted = await Promise.all(Array.from({ length: 15 }, () => deliveries.emit()));
  await receiver.waitForCount(5);
  const [worker] = herald.workers;
  const startedAt = Date.now();
  const end = await worker?.stop();
  expect(end).toEqual({ code: 0, signal: null });
  expect(Date.now() - startedAt).toBeLessThan(DEADLINE_MS + 5_000);
  for (const { to } of emitted) {
    const delivery = await deliveries.read(to(registered));
    expect(delivery).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  }
  const sentBefore = receiver.requests.length;

  isDead = false;
  await herald.startWorker();
  for (const { to } of emitted) {
    const delivery = await deliveries.waitForStatus(to(registered), 'delivered', 15_000);
    expect(delivery).toMatchObject({ tries: 1, attempts: [{ status: 200 }] });
  }
  expect(receiver.requests).toHaveLength(sentBefore + emitted.length);
});

test('SIGTERM while nothing is to be done exits with 0 at once', async () => {
  await using herald = await startHerald();
  const [worker] = herald.workers;
  const startedAt = Date.now();
  expect(await worker?.stop()).toEqual({ code: 0, signal: null });
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  await waitFor('the API to say that no worker is left', async () => {
    const { body } = await herald.request('GET', '/readyz');
    return (body as { workers: number }).workers === 0;
  });
});
