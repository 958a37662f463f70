import type { Receiver } from '@herald/test-kit';
import { checkpoint, START } from '../../support/reports.ts';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { bodyOf } from '../../support/http-request.ts';
import { problemOf } from '../../support/problems.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

/** Failures in a row below which no endpoint is disabled, however long it fails. */
const FAILURES = 10;
const DISABLE_AFTER_MS = 200;
const MANY_WAITS = Array.from({ length: 30 }, () => '40ms').join();

async function startWorkspace(herald: Herald, receiver: Receiver) {
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, registered, deliveries: createDeliveryClient(workspace) };
}

describe('a receiver that answers 410', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: { RETRY_SCHEDULE: '10m' } });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('is disabled at once as gone, and what was pending for it ends as canceled', async () => {
    const receiver = await herald.startReceiver([500, 500, 500, 410, 200]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const waiting = [];
    for (let count = 0; count < 3; count++) {
      const emitted = await deliveries.emit();
      waiting.push(await deliveries.waitForAttempts(emitted.to(registered), 1));
    }
    const last = (await deliveries.emit()).to(registered);
    const disabled = await deliveries.waitForReceiver(registered, ({ enabled }) => !enabled);
    expect(disabled).toMatchObject({ disabledReason: 'gone', health: { state: 'disabled', consecutiveFailures: 4 } });
    expect(disabled.health.since).toBe(disabled.disabledAt);
    for (const { id } of [...waiting, { id: last }]) {
      const ended = await deliveries.waitForStatus(id, 'canceled');
      expect(ended).toMatchObject({ reason: 'receiver_disabled', nextAttemptAt: null, tries: 1 });
      expect(ended.attempts).toHaveLength(1);
    }
    await herald.settled();
    expect(receiver.requests).toHaveLength(4);
    const warnings = herald.workers.flatMap(({ process }) =>
      process.stdout.filter((line) => line.includes('"endpoint.disabled"') && line.includes(registered.id)),
    );
    expect(warnings).toHaveLength(1);
    expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ level: 'warn', reason: 'gone' });
  });

  test('gets nothing more: new deliveries are recorded as canceled', async () => {
    const receiver = await herald.startReceiver([410, 200]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    await deliveries.emit();
    await deliveries.waitForReceiver(registered, ({ enabled }) => !enabled);
    const missed = await deliveries.emit();
    const delivery = await deliveries.read(missed.to(registered));
    expect(delivery).toMatchObject({ status: 'canceled', reason: 'receiver_disabled', tries: 0, attempts: [] });
    expect(delivery.settledAt).toBe(delivery.createdAt);
    await herald.settled();
    expect(receiver.requests).toHaveLength(1);
  });

  test('gets later events again after a PATCH, and a replay brings back what it missed', async () => {
    const receiver = await herald.startReceiver([410, 200]);
    const { workspace, registered, deliveries } = await startWorkspace(herald, receiver);
    const since = new Date().toISOString();
    const refused = await deliveries.emit();
    await deliveries.waitForReceiver(registered, ({ enabled }) => !enabled);
    const missed = await deliveries.emit();
    const patched = await deliveries.patchReceiver(registered, { enabled: true });
    expect(patched).toMatchObject({ enabled: true, health: { state: 'healthy', consecutiveFailures: 0 } });
    expect(patched).not.toHaveProperty('disabledAt');
    expect(patched).not.toHaveProperty('disabledReason');
    const later = await deliveries.emit();
    await deliveries.waitForStatus(later.to(registered), 'delivered');
    expect(await deliveries.read(missed.to(registered))).toMatchObject({ status: 'canceled' });

    bodyOf(await workspace.request('POST', `/api/public/webhooks/${registered.id}/replay`, { body: { since } }), 202);
    const replayed = await deliveries.waitForStatus(missed.to(registered), 'delivered');
    expect(replayed.attempts).toMatchObject([{ status: 200 }]);
    expect(replayed).not.toHaveProperty('reason');
    const again = await deliveries.waitForStatus(refused.to(registered), 'delivered');
    expect(again.attempts).toMatchObject([{ status: 410 }, { status: 200 }]);
    await herald.settled();
    const ids = webhooksAt(receiver).map(({ deliveryId }) => deliveryId);
    expect(ids.sort()).toEqual([refused, refused, missed, later].map(({ to }) => to(registered)).sort());
  });

  test('a callback that answers 410 is disabled too: what its Task does later is recorded and not sent', async () => {
    const callback = await herald.startReceiver([410, 200]);
    const { workspace, deliveries } = await startWorkspace(herald, await herald.startReceiver());
    const task = await workspace.createTask({ callback: { url: callback.url } });
    const deliveryOf = async (event: string) => {
      const { deliveries: all } = await deliveries.listByTask(task.id);
      return all.find((delivery) => delivery.event === event && delivery.endpointId.startsWith('cb_'))?.id ?? '';
    };
    await herald.executor.report(task.id, START, checkpoint('one'));
    const first = await deliveries.waitForStatus(await deliveryOf('task.check_in'), 'canceled');
    expect(first).toMatchObject({ reason: 'receiver_disabled', attempts: [{ status: 410 }] });
    await workspace.closeTask(task.id);
    const second = await deliveries.waitForStatus(await deliveryOf('task.done'), 'canceled');
    expect(second).toMatchObject({ reason: 'receiver_disabled', tries: 0, attempts: [] });
    await herald.settled();
    expect(callback.requests).toHaveLength(1);
    const { url } = callback;
    const disabled = {
      url,
      events: [],
      enabled: false,
      disabledReason: 'gone',
      disabledBy: 'herald',
      disabledAt: expect.any(String) as string,
      ordering: 'none',
      orderingTimeout: '24h',
      orderingTimeoutSeconds: 86_400,
    };
    expect((await workspace.readTask(task.id)).callback).toEqual(disabled);

    const refusal = problemOf(await deliveries.tryRedeliver(second.id));
    expect(refusal).toMatchObject({ status: 409, code: 'receiver_disabled' });
    expect(refusal.detail).toContain(`PATCH /tasks/${task.id}/callback with {"enabled": true}`);
    expect(bodyOf(await workspace.patchCallback(task.id, { enabled: true }), 200)).toMatchObject({
      url,
      events: [],
      enabled: true,
      ordering: 'none',
      orderingTimeout: '24h',
    });
    await deliveries.redeliver(second.id);
    await deliveries.waitForStatus(second.id, 'delivered');
    expect(webhooksAt(callback).map(({ deliveryId }) => deliveryId)).toEqual([first.id, second.id]);
  });
});

describe('an endpoint that goes on failing', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: { RETRY_SCHEDULE: MANY_WAITS, DISABLE_AFTER: `${DISABLE_AFTER_MS}ms` } });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('is disabled as failing after ten failures in a row over the time allowed, in mid-schedule', async () => {
    const receiver = await herald.startReceiver([500]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const { to } = await deliveries.emit();
    const disabled = await deliveries.waitForReceiver(registered, ({ enabled }) => !enabled);
    expect(disabled).toMatchObject({ disabledReason: 'failing', health: { state: 'disabled' } });
    const delivery = await deliveries.waitForStatus(to(registered), 'canceled');
    expect(delivery).toMatchObject({ reason: 'receiver_disabled' });
    const { attempts } = delivery;
    expect(attempts.length).toBeGreaterThanOrEqual(FAILURES);
    expect(attempts.length).toBeLessThan(31);
    expect(disabled.health.consecutiveFailures).toBe(attempts.length);
    const failedForMs = Date.parse(disabled.disabledAt ?? '') - Date.parse(attempts[0]?.at ?? '');
    expect(failedForMs).toBeGreaterThanOrEqual(DISABLE_AFTER_MS);
  });

  test('is disabled by failures of many deliveries together', async () => {
    const receiver = await herald.startReceiver([500]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const emitted = await Promise.all([1, 2, 3, 4].map(() => deliveries.emit()));
    await deliveries.waitForReceiver(registered, ({ disabledReason }) => disabledReason === 'failing');
    let attempts = 0;
    for (const { to } of emitted) attempts += (await deliveries.waitForStatus(to(registered), 'canceled')).tries;
    await herald.settled();
    expect(receiver.requests).toHaveLength(attempts);
    expect((await deliveries.readReceiver(registered)).health.consecutiveFailures).toBe(attempts);
  });

  test('is left alone when one success comes between', async () => {
    const receiver = await herald.startReceiver((_request, index) => (index % FAILURES === FAILURES - 1 ? 200 : 500));
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    for (let count = 0; count < 3; count++) {
      const { to } = await deliveries.emit();
      const { attempts } = await deliveries.waitForStatus(to(registered), 'delivered');
      expect(attempts).toHaveLength(FAILURES);
      const { enabled, health } = await deliveries.readReceiver(registered);
      expect({ enabled, ...health }).toMatchObject({ enabled: true, state: 'healthy', consecutiveFailures: 0 });
    }
  });

  test('is disabled as a callback too, and says so in its deliveries', async () => {
    const callback = await herald.startReceiver([500]);
    const { registered, deliveries } = await startWorkspace(herald, await herald.startReceiver());
    const emitted = await deliveries.emit({ callback: { url: callback.url } });
    const delivery = await deliveries.waitForStatus(emitted.toCallback, 'canceled');
    expect(delivery).toMatchObject({ reason: 'receiver_disabled' });
    expect(delivery.attempts.length).toBeGreaterThanOrEqual(FAILURES);
    await deliveries.waitForStatus(emitted.to(registered), 'delivered'); // nobody else's fault
  });

  test('a failed test event counts for nothing', async () => {
    const receiver = await herald.startReceiver([500]);
    const { workspace, registered, deliveries } = await startWorkspace(herald, receiver);
    for (let count = 0; count <= FAILURES; count++) await workspace.sendTest(registered.id);
    const { enabled, health } = await deliveries.readReceiver(registered);
    expect({ enabled, ...health }).toMatchObject({ enabled: true, consecutiveFailures: 0 });
  });
});

test('many quick failures do not disable while the time allowed has not passed', async () => {
  await using herald = await startHerald({ env: { RETRY_SCHEDULE: MANY_WAITS, DISABLE_AFTER: '5d' } });
  const { registered, deliveries } = await startWorkspace(herald, await herald.startReceiver([500]));
  const { to } = await deliveries.emit();
  const { attempts, reason } = await deliveries.waitForStatus(to(registered), 'failed');
  expect({ count: attempts.length, reason }).toEqual({ count: 31, reason: 'schedule_exhausted' });
  const { enabled, health } = await deliveries.readReceiver(registered);
  expect({ enabled, ...health }).toMatchObject({ enabled: true, state: 'failing', consecutiveFailures: 31 });
  expect(Date.parse(health.since)).toBeGreaterThanOrEqual(Date.parse(attempts[0]?.at ?? ''));
  expect(Date.parse(health.since)).toBeLessThanOrEqual(Date.parse(attempts[1]?.at ?? ''));
});

test('fewer than ten failures do not disable, however long they take', async () => {
  await using herald = await startHerald({
    env: { RETRY_SCHEDULE: Array.from({ length: 8 }, () => '40ms').join(), DISABLE_AFTER: '1ms' },
  });
  const { registered, deliveries } = await startWorkspace(herald, await herald.startReceiver([500]));
  const first = await deliveries.emit();
  await deliveries.waitForStatus(first.to(registered), 'failed');
  expect(await deliveries.readReceiver(registered)).toMatchObject({
    enabled: true,
    health: { consecutiveFailures: FAILURES - 1 },
  });
  const second = await deliveries.emit();
  const delivery = await deliveries.waitForStatus(second.to(registered), 'canceled');
  expect(delivery.attempts).toHaveLength(1);
  expect(await deliveries.readReceiver(registered)).toMatchObject({ enabled: false, disabledReason: 'failing' });
});
