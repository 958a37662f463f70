import type { Receiver } from '@herald/test-kit';
import { createDeliveryClient, type DeliveryView } from '../../support/delivery-client.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

let herald: Herald;
beforeAll(async () => {
  herald = await startHerald({ env: { RETRY_SCHEDULE: '50ms,50ms,50ms' } });
});
afterAll(() => herald[Symbol.asyncDispose]());

async function startWorkspace(receiver: Receiver) {
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, registered, deliveries: createDeliveryClient(workspace) };
}

/** From the end of the first attempt to the time that the next is due, in ms. */
function waitOf({ attempts: [first], nextAttemptAt }: DeliveryView): number {
  return Date.parse(nextAttemptAt ?? '') - Date.parse(first?.at ?? '') - (first?.durationMs ?? 0);
}

const SECONDS = (seconds: number) => () => String(seconds);
const DATE = (seconds: number) => () => new Date(Date.now() + seconds * 1_000).toUTCString();

test.each([
  { status: 429, form: 'seconds', header: SECONDS(600), waitMs: 600_000 },
  { status: 503, form: 'seconds', header: SECONDS(600), waitMs: 600_000 },
  { status: 429, form: 'a date', header: DATE(600), waitMs: 600_000 },
  { status: 503, form: 'a date', header: DATE(600), waitMs: 600_000 },
  { status: 503, form: 'more than 24 h', header: SECONDS(1_000_000), waitMs: 86_400_000 },
])('a Retry-After of $form on $status moves the next try to then', async ({ status, header, waitMs }) => {
  const receiver = await herald.startReceiver(() => ({ status, headers: { 'retry-after': header() } }));
  const { registered, deliveries } = await startWorkspace(receiver);
  const emitted = await deliveries.emit();
  const delivery = await deliveries.waitForAttempts(emitted.to(registered), 1);
  expect(delivery).toMatchObject({ status: 'pending', tries: 1, attempts: [{ status }] });
  // A date has whole seconds, and counts from the moment of the answer: a busy machine notes the end later.
  expect(waitOf(delivery)).toBeGreaterThanOrEqual(waitMs - 5_000);
  expect(waitOf(delivery)).toBeLessThanOrEqual(waitMs + 2_000);
  const { health } = await deliveries.readReceiver(registered);
  expect(health).toMatchObject({ state: 'paused', consecutiveFailures: 1 });
  expect(health).not.toHaveProperty('nextProbeAt');
  const heldMs = Date.parse(health.pausedUntil ?? '') - Date.parse(delivery.attempts[0]?.at ?? '');
  expect(Math.abs(heldMs - waitMs)).toBeLessThanOrEqual(5_000);
});

test.each([
  { when: 'on 500', status: 500, header: '600' },
  { when: 'on 404', status: 404, header: '600' },
  { when: 'that is nonsense, on 503', status: 503, header: 'tomorrow' },
  { when: 'that is negative, on 429', status: 429, header: '-5' },
  { when: 'in the past, on 503', status: 503, header: 'Sun, 06 Nov 1994 08:49:37 GMT' },
])('a Retry-After $when is ignored: the schedule goes on', async ({ status, header }) => {
  const receiver = await herald.startReceiver([{ status, headers: { 'retry-after': header } }, 200]);
  const { registered, deliveries } = await startWorkspace(receiver);
  const emitted = await deliveries.emit();
  const delivery = await deliveries.waitForStatus(emitted.to(registered), 'delivered', 5_000);
  expect(delivery.attempts).toMatchObject([{ status }, { status: 200 }]);
});

test('a Retry-After shorter than the scheduled wait does not bring the next try forward', async () => {
  await using slow = await startHerald({ env: { RETRY_SCHEDULE: '10m' } });
  const receiver = await slow.startReceiver([{ status: 429, headers: { 'retry-after': '1' } }]);
  const workspace = await slow.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const deliveries = createDeliveryClient(workspace);
  const emitted = await deliveries.emit();
  expect(waitOf(await deliveries.waitForAttempts(emitted.to(registered), 1))).toBeGreaterThanOrEqual(470_000);
});

test('a Retry-After holds every delivery to its receiver until then, and none to another of the same origin', async () => {
  const HOLD_MS = 6_000;
  const busy = await herald.startReceiver([{ status: 503, headers: { 'retry-after': String(HOLD_MS / 1_000) } }, 200]);
  const { workspace, registered, deliveries } = await startWorkspace(busy);
  const first = await deliveries.emit();
  await deliveries.waitForReceiver(registered, ({ health }) => health.state === 'paused');
  const [refused] = webhooksAt(busy);
  const heldAt = refused?.request.receivedAt ?? 0;
  const sameOrigin = await workspace.registerReceiver({ url: `${busy.origin}/other-path` });

  const second = await deliveries.emit({ callback: { url: `${busy.origin}/callback` } });
  await deliveries.waitForStatus(second.to(sameOrigin), 'delivered', 5_000);
  await deliveries.waitForStatus(second.toCallback, 'delivered', 5_000);
  const held = await deliveries.read(second.to(registered));
  expect(Date.now()).toBeLessThan(heldAt + HOLD_MS); // else this shows nothing
  expect(held).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
  expect((await deliveries.readReceiver(registered)).health).toMatchObject({ state: 'paused' });
  expect((await deliveries.readReceiver(sameOrigin)).health).toMatchObject({ state: 'healthy', backlog: 0 });

  for (const { to } of [first, second]) await deliveries.waitForStatus(to(registered), 'delivered');
  const heldBack = new Set([first.to(registered), second.to(registered)]);
  const [, ...late] = webhooksAt(busy).filter(({ deliveryId }) => heldBack.has(deliveryId));
  expect(late).toHaveLength(2);
  for (const { request } of late) expect(request.receivedAt - heldAt).toBeGreaterThanOrEqual(HOLD_MS - 100);
  expect((await deliveries.readReceiver(registered)).health).toMatchObject({ state: 'healthy', backlog: 0 });
});

test("another workspace's deliveries to the same origin are not held", async () => {
  const receiver = await herald.startReceiver([{ status: 429, headers: { 'retry-after': '600' } }, 200]);
  const [one, two] = [await startWorkspace(receiver), await startWorkspace(receiver)];
  await one.deliveries.waitForAttempts((await one.deliveries.emit()).to(one.registered), 1);
  const delivery = await two.deliveries.waitForStatus((await two.deliveries.emit()).to(two.registered), 'delivered');
  expect(delivery.attempts).toMatchObject([{ status: 200 }]);
});
