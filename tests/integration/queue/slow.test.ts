import { waitFor } from '@herald/test-kit';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type EndOptions } from './start-queue.ts';

const START = 1_800_000_000_000;
const SLOW = 3;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  let added = 0;
  const add = (count = 1, group = 'g') =>
    queue.add(...Array.from({ length: count }, () => ({ group, id: `job${added++}` })));
  return {
    queue,
    scripts,
    add,
    passMs: (ms: number) => {
      now += ms;
    },
    /** Adds a job that took so long. Returns the ring from which it came. */
    async takeOne(tookMs: number, options: EndOptions = { outcome: 'answered' }): Promise<number | undefined> {
      await add();
      const [job] = await scripts.reserve();
      if (job) await queue.end(job.handle, { ...options, tookMs });
      return job?.ring;
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test.each<{ tookMs: number; jobs: number }>([
  { tookMs: 5_000, jobs: 1 },
  { tookMs: 2_000, jobs: 1 },
  { tookMs: 1_500, jobs: 2 },
  { tookMs: 1_100, jobs: 4 },
])('a group whose jobs take $tookMs ms is slow after $jobs of them', async ({ tookMs, jobs }) => {
  await using set = await setUp();
  await set.takeOne(5);
  for (let job = 0; job < jobs; job++) expect(await set.takeOne(tookMs)).toBe(1);
  expect(await set.takeOne(tookMs)).toBe(SLOW);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a group whose first answer takes longer than a second is slow at once', async () => {
  await using set = await setUp();
  expect(await set.takeOne(1_000)).toBe(2);
  expect(await set.takeOne(5)).toBe(SLOW);
  expect(await set.takeOne(5)).toBe(1);
});

test('a group that always answers within a second is never slow, and nothing of its times is stored', async () => {
  await using set = await setUp();
  await set.takeOne(999);
  for (let job = 0; job < 20; job++) expect(await set.takeOne(999)).toBe(1);
  expect(await set.queue.redis.hexists(set.queue.keys.group('g'), 'took')).toBe(0);
});

test('a slow group that answers quickly again is quick at its second answer, and soon all of it is forgotten', async () => {
  await using set = await setUp();
  for (let job = 0; job < 8; job++) await set.takeOne(1_400);
  expect(await set.takeOne(5)).toBe(SLOW);
  expect(await set.takeOne(5)).toBe(1);
  for (let job = 0; job < 12; job++) await set.takeOne(5);
  expect(await set.queue.redis.hexists(set.queue.keys.group('g'), 'took')).toBe(0);
});

test('time that is held without an answer counts too, and what was never sent doesn’t', async () => {
  await using set = await setUp();
  await set.takeOne(5);
  await set.takeOne(15_000, { outcome: 'unsent' });
  expect(await set.takeOne(15_000, { outcome: 'unanswered' })).toBe(1);
  // It is suspect for a minute first.
  expect(await set.takeOne(15_000, { outcome: 'unanswered' })).toBe(2);
  set.passMs(60_000);
  expect(await set.takeOne(5)).toBe(SLOW);
});

test('what waits goes with its group to the slow ring and back, and wakes those who wait there', async () => {
  await using set = await setUp();
  await set.takeOne(5);
  await set.add(3);
  const { redis, keys } = set.queue;
  const [first] = await set.scripts.reserve({ rooms: [0, 1, 0, 0] });
  await set.queue.end(first?.handle ?? '', { outcome: 'answered', tookMs: 3_000 });
  expect(await redis.exists(keys.wake(SLOW))).toBe(1);
  expect(await findFaults(set.queue)).toEqual([]);
  expect(await set.scripts.reserveAll({ rooms: [9, 9, 9, 0] })).toMatchObject({
    jobs: [],
    left: [false, false, false, true],
  });
  const [second] = await set.scripts.reserve({ rooms: [0, 0, 0, 1] });
  await set.queue.end(second?.handle ?? '', { outcome: 'answered', tookMs: 5 });
  expect(await findFaults(set.queue)).toEqual([]);
  expect(await set.scripts.reserve({ rooms: [0, 9, 0, 0] })).toHaveLength(1);
});

test('a slow group has as many in work as its limit allows', async () => {
  await using set = await setUp();
  await set.takeOne(5);
  await set.takeOne(5_000);
  await set.add(100);
  let reserved = 0;
  for (let turn = 0; turn < 10; turn++)
    reserved += (await set.scripts.reserve({ rooms: [0, 0, 0, 25], groupLimit: 50 })).length;
  expect(reserved).toBe(50);
});

describe('beside a worker with four quick slots', () => {
  const TAKES_MS = 1_500;
  /** Jobs of groups that begin with `slow` end when they are let go, and took long. */
  async function startWork() {
    const queue = await startQueue();
    const backend = await queue.createBackend({ concurrency: 4, groupLimit: 50 });
    const begun: string[] = [];
    let letGo = Promise.withResolvers<undefined>();
    const worker = queue.startWorker(backend, async (_job, token = '') => {
      const { id, group, handle } = backend.reservationOf(token);
      begun.push(id);
      const isSlow = group.startsWith('slow');
      if (isSlow) await letGo.promise;
      await queue.end(handle, { outcome: 'answered', limit: 50, tookMs: isSlow ? TAKES_MS : 5 });
      backend.ended(token, 'answered');
    });
    const add = (group: string, ...ids: readonly string[]) => queue.add(...ids.map((id) => ({ group, id })));
    return {
      begun,
      add,
      /** Those that are under way end; from then on others are held. */
      letGo: () => {
        letGo.resolve(undefined);
        letGo = Promise.withResolvers();
      },
      addMany: (group: string, count: number, name = 'first') =>
        add(group, ...Array.from({ length: count }, (_, index) => `${group}.${name}.${index}`)),
      async countSlow(): Promise<number> {
        const groups = await queue.redis.keys(queue.keys.group('slow*'));
        const took = await Promise.all(groups.map((key) => queue.redis.hget(key, 'took')));
        return took.filter((ms) => Number(ms) >= 1_000).length;
      },
      /** A job of a quick group begins. */
      async probe(id: string): Promise<void> {
        await add('quick', id);
        await waitFor('the quick job to begin', () => begun.includes(id));
      },
      async [Symbol.asyncDispose]() {
        const closed = worker.close();
        letGo.resolve(undefined);
        await closed;
        await queue[Symbol.asyncDispose]();
      },
    };
  }

  test('two groups that always take a second and a half, with a backlog, hold up no quick one, and are sent as their slots allow', async () => {
    await using work = await startWork();
    await work.probe('first');
    for (const group of ['slow1', 'slow2']) await work.addMany(group, 2);
    await waitFor('them to be under way', () => work.begun.length === 1 + 4);
    work.letGo();
    await waitFor('them to be known as slow', async () => (await work.countSlow()) === 2);
    for (const group of ['slow1', 'slow2']) await work.addMany(group, 20, 'later');
    // None of these ends meanwhile.
    for (let probe = 0; probe < 20; probe++) await work.probe(`probe${probe}`);
    await waitFor('all slow ones to be under way', () => work.begun.length === 1 + 4 + 40 + 20);
    expect(new Set(work.begun).size).toBe(work.begun.length);
  });

  test('groups that nobody knows yet and that turn out to be slow make one another wait for a second, and no quick one', async () => {
    await using work = await startWork();
    await work.probe('first');
    for (let group = 0; group < 4; group++) await work.add(`slow${group}`, `slow${group}.a`);
    // None of these ends meanwhile: of two suspect slots each is held for a second at most.
    await work.probe('probe');
    await waitFor('all of them to be under way', () => work.begun.length === 1 + 1 + 4);
    expect(new Set(work.begun).size).toBe(work.begun.length);
  });
});
