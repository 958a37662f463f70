import { waitFor } from '@herald/test-kit';
import { shardKeys } from '../../support/delivery-state.ts';
import { startHerald } from '../../support/start-herald.ts';
import {
  backlogOf,
  createMood,
  destinationOf,
  emitMany,
  expectNothingLeft,
  hurryProbe,
  isBreakerOpen,
} from './fleet.ts';

import.meta.jest.setTimeout(120_000);

const LEASE_MS = 7_000;
const ENV = {
  DELIVERY_TIMEOUT: '2s',
  CONCURRENCY: '8',
  DESTINATION_CONCURRENCY: '3',
  RETRY_SCHEDULE: '50ms,50ms,50ms,50ms',
};
/** A killed worker's jobs in the line come back after so long. */
const STALLED_MS = 25_000;

test.each([1, 2, 4])('%i workers that are all killed while they serve a backlog lose nothing', async (workers) => {
  await using herald = await startHerald({ workers, env: ENV });
  const workspace = await herald.createWorkspace();
  const mood = createMood({ status: 200, delayMs: 60 });
  const receiver = await herald.startReceiver(mood.respond);
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const destination = await destinationOf(herald.redis, id);
  const transitions = await emitMany(herald, workspace, 300);
  await mood.waitForAccepted(40, 20_000);
  expect(await backlogOf(herald.redis, destination)).toBeGreaterThan(100);
  await Promise.all(herald.workers.map((worker) => worker.kill()));
  const killedAt = Date.now();
  await herald.startWorker();
  await mood.waitForAccepted(transitions.length, 30_000);
  const recoveredMs = Date.now() - killedAt;
  expect(recoveredMs).toBeLessThan(30_000);
  await expectNothingLeft(herald.redis, STALLED_MS + 10_000);
  expect(mood.accepted.size).toBe(transitions.length);
  // Twice went only what a kill caught between its send and its record.
  const { attempts } = shardKeys();
  const recorded = await Promise.all([...mood.accepted.keys()].map((each) => herald.redis.llen(attempts(each))));
  expect(new Set(recorded)).toEqual(new Set([1]));
  expect(mood.repeated().length).toBeLessThanOrEqual(workers * 16);
});

test('a prober that is killed blocks the next probe no longer than its lease', async () => {
  await using herald = await startHerald({ env: ENV });
  const workspace = await herald.createWorkspace();
  const mood = createMood('hang');
  const receiver = await herald.startReceiver(mood.respond);
  const { id } = await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, 20);
  const destination = await destinationOf(herald.redis, id);
  await waitFor('the breaker to open', () => isBreakerOpen(herald.redis, destination));
  await waitFor('all to wait', async () => (await backlogOf(herald.redis, destination)) === transitions.length);
  const before = receiver.requests.length;
  await hurryProbe(herald.redis, destination);
  await receiver.waitForCount(before + 1);
  await herald.workers[0]?.kill();
  const killedAt = Date.now();
  mood.set(200);
  await herald.startWorker();
  await mood.waitForAccepted(transitions.length, LEASE_MS + 10_000);
  // The lease, a look of the sweeper, and the way back.
  expect(Date.now() - killedAt).toBeLessThan(LEASE_MS + 6_000);
  await expectNothingLeft(herald.redis, STALLED_MS + 10_000);
  expect(mood.repeated()).toEqual([]);
});

test('workers that are stopped in the middle of a backlog spend no try and send nothing twice', async () => {
  await using herald = await startHerald({ workers: 2, env: { ...ENV, RETRY_SCHEDULE: '' } });
  const workspace = await herald.createWorkspace();
  const mood = createMood({ status: 200, delayMs: 60 });
  const receiver = await herald.startReceiver(mood.respond);
  await workspace.registerReceiver({ url: receiver.url });
  const transitions = await emitMany(herald, workspace, 300);
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
