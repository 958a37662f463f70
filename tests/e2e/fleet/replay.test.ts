import { waitFor } from '@herald/test-kit';
import { readDelivery } from '../../support/delivery-state.ts';
import { bodyOf } from '../../support/http-request.ts';
import { sized } from '../../support/sized.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';
import type { WorkspaceClient } from '../../support/workspace-client.ts';
import { createHold, createMood, emitMany, expectNoInternalErrors, expectNothingLeft } from './fleet.ts';

jest.setTimeout(180_000);

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
  const hold = createHold();
  const receiver = await herald.startReceiver(async (request, index) => {
    await hold.pass();
    return await mood.respond(request, index);
  });
  const registered = await workspace.registerReceiver({ url: receiver.url });
  const since = new Date(Date.now() - 1_000).toISOString();
  await emitMany(herald, workspace, count);
  await herald.settled(120_000);
  return { workspace, mood, hold, receiver, since, ...createReplayClient(workspace, registered.id) };
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
  const SLOTS = 2;
  const count = sized(100, 300);
  await using herald = await startHerald({
    workers: 2,
    env: { ...ENV, CONCURRENCY: '4', DESTINATION_CONCURRENCY: String(SLOTS) },
  });
  const { workspace, mood, hold, receiver, since, start, waitUntil } = await prepareFailed(herald, count);
  mood.set(200);
  hold.begin();
  const { id } = await start({ since, status: ['failed'], until: new Date(Date.now() + 1).toISOString() });
  await waitFor('the replay to be in every slot', () => hold.held() === SLOTS);
  await waitUntil(id, ({ replayed }) => replayed === count);
  const live = await emitMany(herald, workspace, 5);
  const before = receiver.requests.length;
  hold.end();
  await waitUntil(id, ({ status }) => status === 'done');
  await expectNothingLeft(herald.redis);
  const isLive = receiver.requests
    .slice(before)
    .map(({ rawBody }) => live.some((transition) => rawBody.includes(transition)));
  expect(isLive).toHaveLength(count - SLOTS + live.length);
  // What comes in the next slots of both workers comes at once.
  expect(isLive.lastIndexOf(true)).toBeLessThan(live.length + 2 * SLOTS);
  expect(mood.accepted.size).toBe(count + live.length);
  expect(mood.repeated()).toEqual([]);
});

test.concurrent('a replay that is stopped sends what it has reached, and no more', async () => {
  const count = sized(650, 2_000);
  await using herald = await startHerald({ env: { ...ENV, DESTINATION_CONCURRENCY: '2', CONCURRENCY: '4' } });
  const { mood, hold, since, start, stop, read } = await prepareFailed(herald, count);
  mood.set(200);
  hold.begin();
  const { id } = await start({ since });
  await waitFor('some to be in work', () => hold.held() > 0);
  const stopped = await stop(id);
  expect(stopped.status).toBe('stopped');
  expect(stopped.replayed).toBeGreaterThan(0);
  // 500 that wait and a step of 100 are as far ahead as it ever is, beside the four in work.
  expect(stopped.replayed).toBeLessThanOrEqual(600 + 4);
  hold.end();
  await expectNothingLeft(herald.redis);
  expect(await read(id)).toMatchObject({ status: 'stopped', replayed: stopped.replayed });
  expect(mood.accepted.size).toBe(stopped.replayed);
  expect(mood.repeated()).toEqual([]);
  expect((await stop(id)).status).toBe('stopped');
});
