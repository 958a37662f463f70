import { deliveryIdOf } from '@herald/core';
import { waitFor } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { countWaiting, expediteProbe, isBreakerOpen } from '../../support/queue-state.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import { webhooksAt } from '../../support/webhooks.ts';
import { createMood, emitMany, expectNoInternalErrors, expectNothingLeft, latenessAt } from './fleet.ts';

jest.setTimeout(120_000);

const TIMEOUT_MS = 8_000;
const PER_TASK = sized(10, 20);
const ENV = { DELIVERY_TIMEOUT: `${TIMEOUT_MS}ms`, CONCURRENCY: '20', DESTINATION_CONCURRENCY: '5' };

test.each(sized([2], [1, 2, 4]))(
  'with %i workers, of ten receivers one hangs: the others never wait for it, and it gets everything, once, when it is back',
  async (workers) => {
    await using herald = await startHerald({
      workers,
      // Two workers have as many slots: without its limit the dead one would take all.
      env: { ...ENV, CONCURRENCY: String(PER_TASK), RETRY_SCHEDULE: '200ms,200ms,200ms,200ms,200ms' },
    });
    const workspace = await herald.createWorkspace();
    const dead = createMood('hang');
    const deadReceiver = await workspace.registerReceiver({ url: (await herald.startReceiver(dead.respond)).url });
    const healthy = await Promise.all(
      Array.from({ length: 9 }, async () => {
        const receiver = await herald.startReceiver();
        await workspace.registerReceiver({ url: receiver.url });
        return receiver;
      }),
    );
    const transitions = [
      ...(await emitMany(herald, workspace, PER_TASK)),
      ...(await emitMany(herald, workspace, PER_TASK)),
    ];

    await Promise.all(healthy.map((receiver) => receiver.waitForCount(transitions.length, 20_000)));
    const lateness = healthy.flatMap(latenessAt).sort((a, b) => a - b);
    expect(lateness).toHaveLength(9 * transitions.length);
    // All of it goes out while the first sends to the dead one still hang.
    expect(lateness.at(-1)).toBeLessThan(TIMEOUT_MS);
    for (const { requests } of healthy)
      expect(new Set(requests.map(({ headers }) => headers['x-service-delivery'])).size).toBe(transitions.length);

    const group = deadReceiver.id;
    await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, group), 20_000);
    dead.set(200);
    await expediteProbe(herald.redis, group);
    await dead.waitForAccepted(transitions.length, 30_000);
    expect([...dead.accepted.keys()].sort()).toEqual(transitions.map((id) => deliveryIdOf(id, deadReceiver.id)).sort());
    expect(dead.repeated()).toEqual([]);
    await expectNothingLeft(herald.redis);
    expect(dead.repeated()).toEqual([]);
    expectNoInternalErrors(herald);
  },
);

describe('of four workers', () => {
  const timeoutMs = 3_000;
  let herald: Herald;
  beforeAll(async () => {
    const env = { ...ENV, DELIVERY_TIMEOUT: `${timeoutMs}ms`, RETRY_SCHEDULE: '10ms,10ms,10ms,10ms,10ms,10ms' };
    herald = await startHerald({ workers: 4, env });
  });
  afterAll(() => herald[Symbol.asyncDispose]());

  test('one probe at a time goes to a dead receiver, and what waits for it stays where it is', async () => {
    const workspace = await herald.createWorkspace();
    const mood = createMood('hang');
    const receiver = await herald.startReceiver(mood.respond);
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const transitions = await emitMany(herald, workspace, 60);
    const group = id;
    await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, group));
    // From then on every delivery waits: what was in flight has timed out.
    await waitFor('everything to wait', async () => (await countWaiting(herald.redis, group)) === transitions.length);
    const { queue } = shardKeys();
    const waitOf = async () => Number(await herald.redis.hget(queue.group(group), 'wait'));

    const before = receiver.requests.length;
    const waits = [await waitOf()];
    for (let probe = 0; probe < 4; probe++) {
      await expediteProbe(herald.redis, group);
      const last = waits.at(-1) ?? 0;
      // All workers are made to look again and again meanwhile: nothing but the probe's lease keeps them from it.
      const look = async () => {
        await herald.redis.multi().zadd(queue.later, 'XX', 0, group).zadd(queue.wake(0), 0, '0').exec();
        return await waitOf();
      };
      waits.push(await waitFor('the probe to fail', look, { until: (wait) => wait > last }));
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000]);
    const probes = receiver.requests.slice(before).map(({ receivedAt }) => receivedAt);
    // A hanging request lasts for the whole deadline, less what its connection took on a busy machine: two at once would have come together.
    expect(probes).toHaveLength(4);
    const gaps = probes.slice(1).map((at, index) => at - (probes[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(timeoutMs / 2);

    mood.set(200);
    await expediteProbe(herald.redis, group);
    await mood.waitForAccepted(transitions.length, 15_000);
    await expectNothingLeft(herald.redis);
    expect(mood.accepted.size).toBe(transitions.length);
    expect(mood.repeated()).toEqual([]);
  });

  test('what waits moves with its receiver to another url at once, although the old host stays dead', async () => {
    const workspace = await herald.createWorkspace();
    const dead = await herald.startReceiver(['hang']);
    const { id } = await workspace.registerReceiver({ url: dead.url });
    const transitions = await emitMany(herald, workspace, 200);
    const group = id;
    await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, group));
    const mood = createMood(200);
    const { url } = await herald.startReceiver(mood.respond);
    const movedAt = Date.now();
    await workspace.request('PATCH', `/api/public/webhooks/${id}`, { body: { url } });
    await mood.waitForAccepted(transitions.length, 20_000);
    expect(Date.now() - movedAt).toBeLessThan(15_000);
    await expectNothingLeft(herald.redis);
    expect(mood.repeated()).toEqual([]);
  });

  test('a dead receiver holds up no neighbour at the same host, and what waits for it ends when it is removed', async () => {
    const workspace = await herald.createWorkspace();
    const receiver = await herald.startReceiver(({ path }) => (path === '/dead' ? 'reset' : 200));
    const dead = await workspace.registerReceiver({ url: `${receiver.origin}/dead` });
    const neighbour = await workspace.registerReceiver({ url: `${receiver.origin}/neighbour` });
    const transitions = await emitMany(herald, workspace, 30);
    await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, dead.id));
    const arrived = () =>
      webhooksAt(receiver).filter(({ deliveryId }) =>
        transitions.some((id) => deliveryIdOf(id, neighbour.id) === deliveryId),
      );
    await waitFor('the neighbour to have all of its own', () => arrived().length === transitions.length);
    expect(await isBreakerOpen(herald.redis, neighbour.id)).toBe(false);
    await workspace.request('DELETE', `/api/public/webhooks/${dead.id}`);
    await expectNothingLeft(herald.redis);
  });
});

test('one send that hangs delays no other to the same receiver, while there is room', async () => {
  await using herald = await startHerald({ env: { ...ENV, DELIVERY_TIMEOUT: '10s', DESTINATION_CONCURRENCY: '2' } });
  const workspace = await herald.createWorkspace();
  let hangs = 0;
  const receiver = await herald.startReceiver(({ rawBody }) =>
    rawBody.includes('"sequence":40') && hangs++ === 0 ? 'hang' : { status: 200, delayMs: 20 },
  );
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  // More than there is room for: the last one, which hangs, has waited.
  const transitions = await emitMany(herald, workspace, 40);
  await receiver.waitForCount(transitions.length);
  const group = id;
  const [next] = await emitMany(herald, workspace, 1);
  await receiver.waitForCount(transitions.length + 1);
  expect(next).toBeDefined();
  // Behind the one that hangs it would wait for ten seconds.
  expect(latenessAt({ requests: receiver.requests.slice(-1) })[0]).toBeLessThan(5_000);
  expect(await isBreakerOpen(herald.redis, group)).toBe(false);
});

test('all workers share in what waits for one receiver', async () => {
  await using herald = await startHerald({
    workers: 4,
    env: { ...ENV, DESTINATION_CONCURRENCY: '2', CONCURRENCY: '4' },
  });
  const workspace = await herald.createWorkspace();
  const mood = createMood({ status: 200, delayMs: 100 });
  const { url } = await herald.startReceiver(mood.respond);
  await workspace.registerReceiver({ url });
  const transitions = await emitMany(herald, workspace, 240);
  await mood.waitForAccepted(transitions.length, 80_000);
  const sent = herald.workers.map(({ process }) => process.output().split('"delivery.attempted"').length - 1);
  for (const count of sent) expect(count).toBeGreaterThan(transitions.length / 16);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});
