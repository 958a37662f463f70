import { waitFor } from '@herald/test-kit';
import { readDelivery } from '../../support/delivery-state.ts';
import { countWaiting, expediteProbe, isBreakerOpen } from '../../support/queue-state.ts';
import { sized } from '../../support/sized.ts';
import { startHerald } from '../../support/start-herald.ts';
import { createHold, createMood, emitMany, expectNothingLeft } from './fleet.ts';

jest.setTimeout(120_000);

const LEASE_MS = 20_000;
/** What a killed worker had is in work elsewhere after so long: its leases end, and the next round of recovery finds them. */
const RECOVERED_MS = LEASE_MS + 10_000;
const DESTINATION_LIMIT = 3;
/** So many are answered before the workers are killed. */
const SENT_BEFORE = 20;
const ENV = {
  DELIVERY_TIMEOUT: '15s',
  CONCURRENCY: '8',
  DESTINATION_CONCURRENCY: String(DESTINATION_LIMIT),
  RETRY_SCHEDULE: '50ms,50ms,50ms,50ms',
};

test.concurrent.each(sized([2], [1, 2, 4]))(
  '%i workers that are all killed while they serve what waits lose nothing',
  async (workers) => {
    await using herald = await startHerald({ workers, env: ENV });
    const workspace = await herald.createWorkspace();
    const mood = createMood(200);
    const hold = createHold();
    const receiver = await herald.startReceiver(async (request, index) => {
      if (index === SENT_BEFORE) hold.begin();
      await hold.pass();
      return mood.respond(request, index);
    });
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    const group = id;
    const transitions = await emitMany(herald, workspace, sized(100, 200));
    await waitFor('every slot of the receiver to be in use', () => hold.held() === DESTINATION_LIMIT, 20_000);
    await Promise.all(herald.workers.map((worker) => worker.kill()));
    const killedAt = Date.now();
    expect(await countWaiting(herald.redis, group)).toBe(transitions.length - SENT_BEFORE - DESTINATION_LIMIT);
    hold.end();
    const before = receiver.requests.length;
    await herald.startWorker();
    await receiver.waitForCount(before + 1, RECOVERED_MS);
    expect(Date.now() - killedAt).toBeLessThan(RECOVERED_MS);
    await mood.waitForAccepted(transitions.length, 20_000);
    await expectNothingLeft(herald.redis);
    expect(mood.accepted.size).toBe(transitions.length);
    // Twice went only what a kill caught between its send and its record.
    const records = await Promise.all([...mood.accepted.keys()].map((id) => readDelivery(herald.redis, id)));
    expect(new Set(records.map(({ attempts }) => attempts))).toEqual(new Set([1]));
    expect(mood.repeated().length).toBeLessThanOrEqual(DESTINATION_LIMIT);
  },
);

test.concurrent('a prober that is killed blocks the next probe no longer than its lease', async () => {
  await using herald = await startHerald({ env: { ...ENV, DELIVERY_TIMEOUT: '2s' } });
  const workspace = await herald.createWorkspace();
  const mood = createMood('hang');
  const receiver = await herald.startReceiver(mood.respond);
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, 20);
  const group = id;
  await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, group), 20_000);
  await waitFor('all to wait', async () => (await countWaiting(herald.redis, group)) === transitions.length);
  const before = receiver.requests.length;
  await expediteProbe(herald.redis, group);
  await receiver.waitForCount(before + 1);
  await herald.workers[0]?.kill();
  const killedAt = Date.now();
  mood.set(200);
  await herald.startWorker();
  await mood.waitForAccepted(transitions.length, RECOVERED_MS);
  expect(Date.now() - killedAt).toBeLessThan(RECOVERED_MS);
  await expectNothingLeft(herald.redis);
  expect(mood.repeated()).toEqual([]);
});

test.concurrent('workers that are stopped in the middle of what waits spend no try and send nothing twice', async () => {
  await using herald = await startHerald({ workers: 2, env: { ...ENV, RETRY_SCHEDULE: '' } });
  const workspace = await herald.createWorkspace();
  const mood = createMood({ status: 200, delayMs: 60 });
  const receiver = await herald.startReceiver(mood.respond);
  await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, 200);
  for (const share of [0.2, 0.4]) {
    await mood.waitForAccepted(transitions.length * share, 20_000);
    const [oldest] = herald.workers.filter(({ process }) => !process.hasExited());
    const [end] = await Promise.all([oldest?.stop(), herald.startWorker()]);
    expect(end).toEqual({ code: 0, signal: null });
  }
  await mood.waitForAccepted(transitions.length, 20_000);
  await expectNothingLeft(herald.redis);
  expect(mood.accepted.size).toBe(transitions.length);
  expect(mood.repeated()).toEqual([]);
});
