import { waitFor } from '@herald/test-kit';
import { readDelivery } from '../../support/delivery-state.ts';
import { bodyOf } from '../../support/http-request.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { createMood, emitMany, expectNoInternalErrors, expectNothingLeft, latenessAt } from './fleet.ts';

import.meta.jest.setTimeout(180_000);

const CONCURRENCY = 20;
const ENV = {
  RETRY_SCHEDULE: '',
  DELIVERY_TIMEOUT: '15s',
  LOG_LEVEL: 'info',
  CONCURRENCY: String(CONCURRENCY),
  DESTINATION_CONCURRENCY: String(CONCURRENCY),
};

interface ReplayView {
  id: string;
  status: string;
  total: number;
  seen: number;
  replayed: number;
}

/** A receiver that refused so many deliveries, all of which have failed, and what it does from then on. */
async function prepareFailed(herald: Herald, count: number) {
  const workspace = await herald.createWorkspace();
  const mood = createMood(500);
  const receiver = await herald.startReceiver(mood.respond);
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const since = new Date(Date.now() - 1_000).toISOString();
  await emitMany(herald, workspace, count);
  await herald.settled(120_000);
  return { workspace, mood, receiver, since, ...createReplayClient(workspace, registered.id) };
}

function createReplayClient(workspace: WorkspaceClient, receiverId: string) {
  const read = async (id: string) =>
    bodyOf(await workspace.request('GET', `/api/public/replays/${id}`), 200) as ReplayView;
  return {
    receiverId,
    start: async (body: object) =>
      bodyOf(await workspace.request('POST', `/api/public/webhooks/${receiverId}/replay`, { body }), 202) as ReplayView,
    read,
    stop: async (id: string) =>
      bodyOf(await workspace.request('DELETE', `/api/public/replays/${id}`), 200) as ReplayView,
    waitUntil: (id: string, until: (replay: ReplayView) => boolean) =>
      waitFor(`replay ${id}`, () => read(id), { until, deadlineMs: 60_000 }),
  };
}

test.concurrent('a replay of hundreds of failed deliveries is done once each, although its worker is killed twice', async () => {
  const count = sized(150, 10_000);
  await using herald = await startHerald({ env: ENV });
  const { mood, since, start, read, waitUntil } = await prepareFailed(herald, count);
  mood.set(200);
  const { id } = await start({ since });
  for (const share of [0.2, 0.5]) {
    await mood.waitForAccepted(count * share, 60_000);
    await herald.workers.at(-1)?.kill();
    const seen = await read(id);
    expect(seen.seen).toBeGreaterThan(0);
    await herald.startWorker();
    expect((await read(id)).seen).toBeGreaterThanOrEqual(seen.seen);
  }
  const done = await waitUntil(id, ({ status }) => status !== 'running');
  expect(done).toMatchObject({ status: 'done', total: count, seen: count, replayed: count });
  await mood.waitForAccepted(count, 60_000);
  await expectNothingLeft(herald.redis);

  expect(mood.accepted.size).toBe(count);
  // Sent again is only what a kill caught between its send and its record: each has one failure and one success on record.
  expect(mood.repeated().length).toBeLessThanOrEqual(2 * 2 * CONCURRENCY);
  const records = await Promise.all([...mood.accepted.keys()].map((each) => readDelivery(herald.redis, each)));
  const seen = records.map(({ attempts, status }) => `${attempts} attempts, ${status}`);
  expect(new Set(seen)).toEqual(new Set(['2 attempts, delivered']));
  expectNoInternalErrors(herald);
});

test.concurrent('two workers at one replay, and what is live meanwhile goes before it', async () => {
  await using herald = await startHerald({
    workers: 2,
    env: { ...ENV, CONCURRENCY: '4', DESTINATION_CONCURRENCY: '2' },
  });
  const { workspace, mood, receiver, since, start, waitUntil } = await prepareFailed(herald, 300);
  mood.set({ status: 200, delayMs: 20 });
  const before = receiver.requests.length;
  const { id } = await start({ since, status: ['failed'], until: new Date(Date.now() + 1).toISOString() });
  await mood.waitForAccepted(50, 20_000);
  const live = await emitMany(herald, workspace, 5);
  await waitFor(
    'the live ones to arrive',
    () => mood.accepted.size >= 300 + live.length || liveAt(live).length >= live.length,
  );
  const arrived = liveAt(live);
  expect(arrived).toHaveLength(live.length);
  expect(latenessAt({ requests: arrived }).at(-1)).toBeLessThan(2_000);
  expect(mood.accepted.size).toBeLessThan(300);
  await waitUntil(id, ({ status }) => status === 'done');
  await expectNothingLeft(herald.redis);
  expect(mood.accepted.size).toBe(300 + live.length);
  expect(mood.repeated()).toEqual([]);

  function liveAt(transitions: readonly string[]) {
    return receiver.requests.slice(before).filter(({ rawBody }) => transitions.some((each) => rawBody.includes(each)));
  }
});

test.concurrent('a replay that is stopped sends what it has reached, and no more', async () => {
  const count = sized(900, 2_000);
  await using herald = await startHerald({ env: { ...ENV, DESTINATION_CONCURRENCY: '2', CONCURRENCY: '4' } });
  const { mood, since, start, stop, read } = await prepareFailed(herald, count);
  mood.set({ status: 200, delayMs: 10 });
  const { id } = await start({ since });
  await mood.waitForAccepted(20, 20_000);
  const stopped = await stop(id);
  expect(stopped.status).toBe('stopped');
  expect(stopped.replayed).toBeGreaterThan(0);
  // 500 that wait and a step of 100 are as far ahead as it ever is, beside the four in work.
  expect(stopped.replayed).toBeLessThanOrEqual(mood.accepted.size + 600 + 4);
  expect(stopped.replayed).toBeLessThan(count);
  await expectNothingLeft(herald.redis);
  expect(await read(id)).toMatchObject({ status: 'stopped', replayed: stopped.replayed });
  expect(mood.accepted.size).toBe(stopped.replayed);
  expect(mood.repeated()).toEqual([]);
  expect((await stop(id)).status).toBe('stopped');
});
