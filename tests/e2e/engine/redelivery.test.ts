import { freePort, startReceiver, waitFor, type Answer, type Receiver } from '@herald/test-kit';
import { createDeliveryClient } from '../../support/delivery-client.ts';
import { problemOf } from '../../support/problems.ts';
import { delayProbe, isQueued, readQueuedIds } from '../../support/queue-state.ts';
import { startRedisGate } from '../../support/redis-gate.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';

jest.setTimeout(60_000);

async function startWorkspace(herald: Herald, receiver: Pick<Receiver, 'url'>) {
  const workspace = await herald.createWorkspace();
  const registered = await workspace.registerReceiver({ url: receiver.url });
  return { workspace, registered, deliveries: createDeliveryClient(workspace) };
}

/** Waits until nothing more can come of a delivery that isn't pending: it neither waits nor is in work. */
async function waitUntilQuiet({ redis }: Herald, id: string): Promise<void> {
  await waitFor(`${id} to leave the queue`, async () => !(await isQueued(redis, id)));
}

describe('with a long schedule', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: { RETRY_SCHEDULE: '10m,10m', DELIVERY_TIMEOUT: '5s' } });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('a delivered delivery is made once more, under the same id and with the same bytes', async () => {
    const receiver = await herald.startReceiver();
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    expect(await deliveries.redeliver(id)).toMatchObject({ id });
    const { status, tries, attempts } = await deliveries.waitForAttempts(id, 2);
    expect({ status, attempts }).toMatchObject({ status: 'delivered', attempts: [{ status: 200 }, { status: 200 }] });
    expect(tries).toBe(1); // what was asked for is no try of the schedule
    await waitUntilQuiet(herald, id);
    const [first, second, ...more] = webhooksAt(receiver);
    expect(more).toEqual([]);
    expect([first?.deliveryId, second?.deliveryId]).toEqual([id, id]);
    expect(second?.request.rawBody).toEqual(first?.request.rawBody);
  });

  test('a delivered delivery stays delivered when its redelivery fails, and is not tried again', async () => {
    const receiver = await herald.startReceiver([200, 500]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    await deliveries.redeliver(id);
    const delivery = await deliveries.waitForAttempts(id, 2);
    expect(delivery).toMatchObject({ status: 'delivered', nextAttemptAt: null, attempts: [{}, { status: 500 }] });
    expect(delivery).not.toHaveProperty('reason');
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(2);
  });

  test('twice in a row makes two attempts', async () => {
    const receiver = await herald.startReceiver();
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    await deliveries.redeliver(id);
    await deliveries.redeliver(id);
    await deliveries.waitForAttempts(id, 3);
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(3);
    expect(await deliveries.read(id)).not.toHaveProperty('owedAttempts');
  });

  test('five at the same moment make five attempts', async () => {
    const receiver = await herald.startReceiver();
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    await Promise.all(Array.from({ length: 5 }, () => deliveries.redeliver(id)));
    await deliveries.waitForAttempts(id, 6);
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(6);
  });

  test('during a pending retry a failure spends no try and moves no next try', async () => {
    const receiver = await herald.startReceiver([500]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    const before = await deliveries.waitForAttempts(id, 1);
    for (const attempts of [2, 3, 4, 5]) {
      await deliveries.redeliver(id);
      await deliveries.waitForAttempts(id, attempts);
    }
    const { status, tries, nextAttemptAt } = before;
    const after = await deliveries.waitUntil(id, ({ owedAttempts }) => owedAttempts === undefined);
    expect(after).toMatchObject({ status, tries, nextAttemptAt });
    const { waiting, inWork } = await readQueuedIds(herald.redis);
    expect([...waiting, ...inWork].filter((each) => each === id)).toHaveLength(1);
  });

  test('during a pending retry a success ends the delivery, and the retry is not made', async () => {
    const receiver = await herald.startReceiver([500, 200]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForAttempts(id, 1);
    await deliveries.redeliver(id);
    expect(await deliveries.waitForStatus(id, 'delivered')).toMatchObject({ tries: 2 });
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(2);
  });

  test.each([
    { first: 200, tries: 1 },
    { first: 500, tries: 2 },
  ])('while its first attempt is under way, to be answered $first, it is made when that ends', async (example) => {
    const held = Promise.withResolvers<Answer>();
    const receiver = await herald.startReceiver((_request, index) => (index === 0 ? held.promise : 200));
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await receiver.next();
    expect(await deliveries.redeliver(id)).toMatchObject({ id, status: 'pending', owedAttempts: 1 });
    expect(receiver.requests).toHaveLength(1);
    held.resolve({ status: example.first });
    const delivery = await deliveries.waitForAttempts(id, 2);
    expect(delivery).toMatchObject({ status: 'delivered', tries: example.tries });
    expect(delivery.attempts).toMatchObject([{ status: example.first }, { status: 200 }]);
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(2);
  });

  test('while an attempt that had to wait is under way, it is made when that ends, and not beside it', async () => {
    const held = Promise.withResolvers<Answer>();
    const answers = [{ status: 503, headers: { 'retry-after': '1' } }, held.promise];
    const receiver = await herald.startReceiver((_request, index) => answers[index] ?? 200);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    await deliveries.waitForAttempts((await deliveries.emit()).to(registered), 1);
    const id = (await deliveries.emit()).to(registered);
    await receiver.waitForCount(2); // the hold is over, and it is being sent
    await deliveries.redeliver(id);
    const other = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(other, 'delivered'); // the queue has come past the redelivery
    const sentMeanwhile = webhooksAt(receiver).map(({ deliveryId }) => deliveryId);
    held.resolve({ status: 200 });
    const { attempts } = await deliveries.waitForAttempts(id, 2);
    expect(attempts).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(sentMeanwhile.slice(1)).toEqual([id, other]);
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(4);
  });

  test('on a disabled receiver it is refused as receiver_disabled, and made once it is enabled again', async () => {
    const receiver = await herald.startReceiver();
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    await deliveries.patchReceiver(registered, { enabled: false });
    expect(problemOf(await deliveries.tryRedeliver(id))).toMatchObject({ status: 409, code: 'receiver_disabled' });
    const missed = (await deliveries.emit()).to(registered);
    await deliveries.patchReceiver(registered, { enabled: true });
    await deliveries.redeliver(missed);
    const delivery = await deliveries.waitForStatus(missed, 'delivered');
    expect(delivery.attempts).toHaveLength(1);
    expect(delivery).not.toHaveProperty('reason');
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(2);
  });

  test('of a delivery to a callback it works the same', async () => {
    const callback = await herald.startReceiver();
    const { deliveries } = await startWorkspace(herald, await herald.startReceiver());
    const { toCallback: id } = await deliveries.emit({ callback: { url: callback.url } });
    await deliveries.waitForStatus(id, 'delivered');
    await deliveries.redeliver(id);
    await deliveries.waitForAttempts(id, 2);
    expect(webhooksAt(callback).map(({ deliveryId }) => deliveryId)).toEqual([id, id]);
  });

  test("another workspace's delivery, and none at all, are not found and not sent", async () => {
    const receiver = await herald.startReceiver();
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const stranger = createDeliveryClient(await herald.createWorkspace());
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'delivered');
    for (const unknown of [id, `dlv_${'a'.repeat(32)}`, 'dlv_', '..']) {
      const answer = await stranger.tryRedeliver(encodeURIComponent(unknown));
      expect(problemOf(answer)).toMatchObject({ status: 404 });
    }
    expect(problemOf(await stranger.tryRedeliver(id))).toMatchObject({ code: 'delivery_not_found' });
    await waitUntilQuiet(herald, id);
    expect(receiver.requests).toHaveLength(1);
  });

  test('it passes an open breaker, and its success lets go what waits', async () => {
    const port = await freePort();
    const { registered, deliveries } = await startWorkspace(herald, { url: `https://127.0.0.1:${port}/hook` });
    const emitted: string[] = [];
    const emitSome = async (count: number) => {
      for (let some = 0; some < count; some++) emitted.push((await deliveries.emit()).to(registered));
    };
    await emitSome(5);
    await deliveries.waitForReceiver(registered, ({ health: { state } }) => state === 'paused');
    // Only the redelivery goes out: the breaker's own probe is far away.
    await delayProbe(herald.redis, registered.id);
    // The breaker is open, so these wait.
    await emitSome(3);
    const { health } = await deliveries.waitForReceiver(registered, ({ health: { backlog } }) => backlog > 0);
    expect(health.consecutiveFailures).toBeGreaterThanOrEqual(5);
    await using receiver = await startReceiver({ ca: herald.ca, port });
    const all = await Promise.all(emitted.map((id) => deliveries.read(id)));
    const waiting = all.filter(({ tries }) => tries === 0);
    const [chosen] = waiting;
    if (!chosen) throw new Error('nothing waits');
    await deliveries.redeliver(chosen.id);
    for (const { id } of waiting) await deliveries.waitForStatus(id, 'delivered');
    expect(webhooksAt(receiver)[0]?.deliveryId).toBe(chosen.id);
    expect((await deliveries.readReceiver(registered)).health).toMatchObject({ state: 'healthy', backlog: 0 });
  });

  test('it passes a Retry-After that holds its receiver', async () => {
    const receiver = await herald.startReceiver([{ status: 503, headers: { 'retry-after': '600' } }, 200]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForAttempts(id, 1);
    await deliveries.redeliver(id);
    const { attempts } = await deliveries.waitForStatus(id, 'delivered', 5_000);
    expect(attempts).toMatchObject([{ status: 503 }, { status: 200 }]);
  });

  test.each([
    { dies: 'before Redis has it', withhold: 'command' as const, made: 0 },
    { dies: 'before it knows of it', withhold: 'reply' as const, made: 1 },
  ])('what an API is asked for that dies $dies is made $made times', async ({ withhold, made }) => {
    const receiver = await herald.startReceiver([200, 500, 200]);
    const { workspace, registered, deliveries } = await startWorkspace(herald, receiver);
    const delivered = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(delivered, 'delivered');
    const pending = (await deliveries.emit()).to(registered);
    await deliveries.waitForAttempts(pending, 1);
    // Redis knows the script from then on, so that its first reply is that of the redelivery.
    const other = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(other, 'delivered');
    await deliveries.redeliver(other);
    await deliveries.waitForAttempts(other, 2);

    for (const id of [delivered, pending]) {
      await using gate = await startRedisGate({ port: herald.server.port, stopAt: `}:${id}`, withhold });
      const victim = await herald.startApi({ REDIS_URL: gate.url });
      const killed = gate.stopped.then(() => victim.kill());
      const { key } = workspace;
      const request = herald.request('POST', `/api/public/deliveries/${id}/redeliver`, { key, via: victim });
      await expect(request).rejects.toThrow('fetch failed'); // nobody is told
      await killed;
      const { attempts } = await deliveries.waitForAttempts(id, 1 + made);
      expect(attempts[1]?.status).toBe(made > 0 ? 200 : undefined);
    }
    await waitUntilQuiet(herald, delivered);
    if (made > 0) await waitUntilQuiet(herald, pending);
    expect(await deliveries.read(pending)).toMatchObject({ status: made > 0 ? 'delivered' : 'pending' });
    expect(receiver.requests).toHaveLength(4 + 2 * made);
  });
});

describe('of a failed delivery', () => {
  let herald: Herald;
  beforeAll(async () => {
    herald = await startHerald({ env: { RETRY_SCHEDULE: '' } });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('a success makes it delivered', async () => {
    const receiver = await herald.startReceiver([500, 200]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'failed');
    await deliveries.redeliver(id);
    const delivery = await deliveries.waitForStatus(id, 'delivered');
    expect(delivery.attempts).toMatchObject([{ status: 500 }, { status: 200 }]);
    expect(delivery).not.toHaveProperty('reason');
    expect(await isQueued(herald.redis, id)).toBe(false);
  });

  test('a failure leaves it failed, with nothing scheduled', async () => {
    const receiver = await herald.startReceiver([500]);
    const { registered, deliveries } = await startWorkspace(herald, receiver);
    const id = (await deliveries.emit()).to(registered);
    await deliveries.waitForStatus(id, 'failed');
    await deliveries.redeliver(id);
    const delivery = await deliveries.waitForAttempts(id, 2);
    expect(delivery).toMatchObject({ status: 'failed', reason: 'schedule_exhausted', nextAttemptAt: null });
    await herald.settled();
    expect(receiver.requests).toHaveLength(2);
  });
});
