import { createDeliveryClient } from '../../support/delivery-client.ts';
import { startHerald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

/** What a wait of the schedule is at least, and the smallest that jitter makes of it. */
const JITTER = 0.2;
/** The service goes by Redis' time, which it knows only so exactly, in ms. */
const CLOCKS_MS = 50;

test('a schedule of n waits is n + 1 attempts, then the delivery is failed, and the log tells it all', async () => {
  const scheduleMs = [100, 250, 400];
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: scheduleMs.map((ms) => `${ms}ms`).join() } });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500, 404, { status: 503, body: 'later' }, { status: 400, body: 'no' }]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const acceptedFrom = Date.now();
  const emitted = await deliveries.emit();
  const acceptedUntil = Date.now();

  const delivery = await deliveries.waitForStatus(emitted.to(registered), 'failed');
  expect(delivery).toMatchObject({
    id: emitted.to(registered),
    event: 'task.done',
    status: 'failed',
    reason: 'schedule_exhausted',
    tries: 4,
    endpointId: registered.id,
    transitionId: emitted.transitionId,
    taskId: emitted.taskId,
    nextAttemptAt: null,
    attempts: [{ status: 500 }, { status: 404 }, { status: 503, answer: 'later' }, { status: 400, answer: 'no' }],
  });
  const createdAt = Date.parse(delivery.createdAt);
  expect(createdAt).toBeGreaterThanOrEqual(acceptedFrom - CLOCKS_MS);
  expect(createdAt).toBeLessThanOrEqual(acceptedUntil + CLOCKS_MS);
  const times = delivery.attempts.map(({ at }) => Date.parse(at));
  for (const [index, waitMs] of scheduleMs.entries()) {
    const ended = (times[index] ?? 0) + (delivery.attempts[index]?.durationMs ?? 0);
    expect((times[index + 1] ?? 0) - ended).toBeGreaterThanOrEqual(waitMs * (1 - JITTER) - 5);
  }
  expect(times[0]).toBeGreaterThanOrEqual(createdAt);
  expect(Date.parse(delivery.settledAt ?? '')).toBeGreaterThanOrEqual(times[3] ?? Infinity);

  await herald.settled();
  const sent = webhooksAt(receiver);
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map(({ deliveryId }) => deliveryId))).toEqual(new Set([delivery.id]));
  for (const { request } of sent) expect(request.rawBody).toEqual(sent[0]?.request.rawBody);
});

test('between two tries a delivery is pending and says when the next one is due, within the jitter', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '10m' } });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const waits = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const emitted = await deliveries.emit();
      const delivery = await deliveries.waitForAttempts(emitted.to(registered), 1);
      const [attempt] = delivery.attempts;
      expect(delivery).toMatchObject({ status: 'pending', tries: 1, settledAt: null });
      return Date.parse(delivery.nextAttemptAt ?? '') - Date.parse(attempt?.at ?? '') - (attempt?.durationMs ?? 0);
    }),
  );
  for (const waitMs of waits) {
    expect(waitMs).toBeGreaterThanOrEqual(480_000 - 50);
    expect(waitMs).toBeLessThanOrEqual(720_000 + 5_000);
  }
  expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(10_000);
});

test('with an empty schedule there is exactly one attempt, to receivers and callbacks', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '' } });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const [receiver, callback] = [await herald.startReceiver([500]), await herald.startReceiver([500])];
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const emitted = await deliveries.emit({ callback: { url: callback.url } });
  for (const id of [emitted.to(registered), emitted.toCallback]) {
    const delivery = await deliveries.waitForStatus(id, 'failed');
    expect(delivery).toMatchObject({ tries: 1, reason: 'schedule_exhausted', attempts: [{ status: 500 }] });
  }
  await herald.settled();
  expect([receiver.requests.length, callback.requests.length]).toEqual([1, 1]);
});

test('callbacks have the schedule that is set for them, and a receiver is given up after the hours that it asks for', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '2h', CALLBACK_RETRY_SCHEDULE: '20ms,20ms' } });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500]);
  const [hasty, patient] = [
    await workspace.registerReceiver({ url: receiver.url, maxRetryHours: 1 }),
    await workspace.registerReceiver({ url: receiver.url }),
  ];
  expect(hasty).toMatchObject({ maxRetryHours: 1 });
  const emitted = await deliveries.emit({ callback: { url: receiver.url } });
  const ended = { reason: 'schedule_exhausted', tries: 3 };
  expect(await deliveries.waitForStatus(emitted.toCallback, 'failed')).toMatchObject(ended);
  const givenUp = await deliveries.waitForStatus(emitted.to(hasty), 'failed');
  expect(givenUp).toMatchObject({ reason: 'too_old', tries: 1, nextAttemptAt: null });
  const waiting = await deliveries.waitForAttempts(emitted.to(patient), 1);
  expect(waiting).toMatchObject({ status: 'pending', tries: 1 });

  expect(await deliveries.patchReceiver(hasty, { maxRetryHours: null })).toMatchObject({ maxRetryHours: null });
  const later = await deliveries.emit();
  expect(await deliveries.waitForAttempts(later.to(hasty), 1)).toMatchObject({ status: 'pending', tries: 1 });
});

test('a success after failures ends the schedule, and nothing is sent after it', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: '20ms,20ms,20ms' } });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await herald.startReceiver([500, 404, 204]);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const emitted = await deliveries.emit();
  const delivery = await deliveries.waitForStatus(emitted.to(registered), 'delivered');
  expect(delivery.attempts).toMatchObject([{ status: 500 }, { status: 404 }, { status: 204 }]);
  expect(delivery).not.toHaveProperty('reason');
  await herald.settled();
  expect(receiver.requests).toHaveLength(3);
});
