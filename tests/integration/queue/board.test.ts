import { createRequire } from 'node:module';
import { defineScript } from '@herald/store/redis/script';
import { createBoardQueue } from '@herald/queue/board/create-board-queue';
import { UnsupportedError, type BoardJob, type BoardJobs } from '@herald/queue';
import { dumpRedis } from '../../support/redis-dump.ts';
import { createQueueScripts } from './queue-scripts.ts';
import { startQueue } from './start-queue.ts';

type Queue = ReturnType<typeof createBoardQueue>;
interface Adapter {
  getJobs(states: string[], start: number, end: number): Promise<{ toJSON(): Record<string, unknown> }[]>;
  getJobCounts(): Promise<Record<string, number>>;
  getJobLogs(id: string): Promise<string[]>;
  getWorkers(): Promise<{ id: string }[] | null>;
  getJobSchedulers(): Promise<unknown[]>;
  getGlobalConcurrency(): Promise<number | null>;
  getConfiguredRateLimit(): Promise<unknown>;
  getActiveRateLimitTtl(): Promise<number>;
}
// bull-board's own, as the API finds it.
const requireFromApi = createRequire(new URL('../../../apps/api/package.json', import.meta.url));
const { BullMQAdapter } = requireFromApi('@bull-board/api/bullMQAdapter') as {
  BullMQAdapter: new (queue: Queue) => Adapter;
};

const START = 1_800_000_000_000;
const GROUPS = ['a', 'b', 'c', '!x'];

/** A queue, BullMQ's view of it, and what was asked of its owner. */
async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const redis = await queue.connect('board');
  const described = new Map<string, Partial<BoardJob>>();
  const asked: string[] = [];
  const logs = ['first', 'second', 'third'];
  const jobs: BoardJobs = {
    find: (id) =>
      Promise.resolve(
        id === 'gone'
          ? undefined
          : { name: `job ${id}`, data: { id }, addedAt: START, attemptsMade: 2, groups: GROUPS, ...described.get(id) },
      ),
    readLogs: () => Promise.resolve(logs),
    retry: (id) => Promise.resolve(void asked.push(`retry ${id}`)),
    promote: (id) => Promise.resolve(void asked.push(`promote ${id}`)),
    failed: {
      count: () => Promise.resolve(3),
      list: (start, end) => Promise.resolve(['f1', 'gone', 'f3'].slice(start, end + 1)),
    },
    listClients: async () => [String(await redis.client('LIST'))],
  };
  const view = createBoardQueue('queue', {
    prefix: queue.keys.prefix,
    defineScript: (_name, lua) => defineScript(redis, lua),
    now: () => now,
    jobs,
    workerConnection: 'worker-wait',
  });
  return {
    queue,
    scripts,
    view,
    adapter: new BullMQAdapter(view),
    described,
    asked,
    idsOf: async (state: 'active' | 'waiting' | 'delayed' | 'failed', start = 0, end = 99) =>
      (await view.getJobs([state], start, end)).map(({ id }) => id),
    passMs: (ms: number) => {
      now += ms;
    },
    async [Symbol.asyncDispose]() {
      await view.close();
      await queue[Symbol.asyncDispose]();
    },
  };
}

test('what is due waits, what is not is delayed, what is under a lease is active, and each is listed and counted in one state', async () => {
  await using set = await setUp();
  const { queue, scripts, view, idsOf } = set;
  await queue.add({ group: 'a', id: 'taken' });
  await scripts.reserve();
  await queue.add(
    { group: 'a', id: 'now' },
    { group: 'a', id: 'later', dueAt: START + 60_000 },
    { group: 'a', id: 'replayed', jobClass: 'background' },
    { group: 'b', id: 'soon', dueAt: START + 1_000 },
    { group: 'b', id: 'urgent later', jobClass: 'urgent', dueAt: START + 90_000 },
    { group: '!x', id: 'express' },
  );
  const expected = {
    active: ['taken'],
    waiting: ['express', 'now', 'replayed'],
    delayed: ['urgent later', 'soon', 'later'],
    failed: ['f1', 'f3'],
  };
  for (const [state, ids] of Object.entries(expected)) {
    await expect(idsOf(state as keyof typeof expected)).resolves.toEqual(ids);
    if (state === 'failed') continue;
    for (const id of ids) await expect(view.getJobState(id)).resolves.toBe(state);
  }
  await expect(view.getJobCounts()).resolves.toEqual({
    active: 1,
    waiting: 3,
    delayed: 3,
    failed: 3,
    completed: 0,
    prioritized: 0,
    'waiting-children': 0,
  });
});

test('pages of one state follow each other over groups, without a gap and without a job twice', async () => {
  await using set = await setUp();
  const ids = (group: string, from: number) =>
    Array.from({ length: 7 }, (_, index) => ({ group, id: `${group}${from + index}` }));
  await set.queue.add(...ids('a', 0), ...ids('b', 0), ...ids('c', 0));
  await set.queue.add(
    ...['a', 'b'].flatMap((group) => ids(group, 7).map((job, index) => ({ ...job, dueAt: START + 1_000 + index }))),
  );
  for (const [state, count] of [
    ['waiting', 21],
    ['delayed', 14],
  ] as const) {
    const all = await set.idsOf(state);
    expect(new Set(all).size).toBe(count);
    const pages: unknown[] = [];
    for (let start = 0; start < count + 5; start += 5) pages.push(...(await set.idsOf(state, start, start + 4)));
    expect(pages).toEqual(all);
  }
});

test('all that a paused group has but what is urgent is delayed, and shows until when', async () => {
  await using set = await setUp();
  const { queue, scripts, view, idsOf, passMs } = set;
  await queue.add({ group: 'a', id: 'first' });
  const [first] = await scripts.reserve();
  await queue.add({ group: 'a', id: 'held' }, { group: 'a', id: 'wished', jobClass: 'urgent' });
  await queue.end(first?.handle ?? '', { outcome: 'answered', heldUntil: START + 30_000 });
  set.described.set('held', { dueAt: START });
  await expect(idsOf('waiting')).resolves.toEqual(['wished']);
  await expect(idsOf('delayed')).resolves.toEqual(['held']);
  await expect(view.getJobState('held')).resolves.toBe('delayed');
  await expect(view.getJobState('wished')).resolves.toBe('waiting');
  const job = await view.getJob('held');
  expect(job).toMatchObject({
    data: { id: 'held', pausedUntil: new Date(START + 30_000).toISOString() },
    delay: 30_000,
  });
  passMs(30_000);
  await expect(idsOf('waiting')).resolves.toEqual(['wished', 'held']);
  await expect(view.getJobState('held')).resolves.toBe('waiting');
  expect((await view.getJob('held'))?.data).toEqual({ id: 'held' });
});

test('of a group with an open breaker one job waits, as its probe, and the others are delayed', async () => {
  await using set = await setUp();
  const { queue, scripts, view, idsOf, passMs } = set;
  await queue.add(...Array.from({ length: 5 }, (_, index) => ({ group: 'a', id: `lost${index}` })));
  for (const { handle } of await scripts.reserve()) await queue.end(handle, { outcome: 'unanswered' });
  await queue.add({ group: 'a', id: 'one' }, { group: 'a', id: 'two' });
  await expect(idsOf('delayed')).resolves.toEqual(['one', 'two']);
  passMs(60_000);
  await expect(idsOf('waiting')).resolves.toEqual(['one']);
  await expect(idsOf('delayed')).resolves.toEqual(['two']);
  await expect(Promise.all(['one', 'two'].map((id) => view.getJobState(id)))).resolves.toEqual(['waiting', 'delayed']);
  await expect(view.getJobCounts('waiting', 'delayed')).resolves.toEqual({ waiting: 1, delayed: 1 });
});

test('jobs without a token are delayed, in pages too', async () => {
  await using set = await setUp();
  const { queue, scripts, view, idsOf, passMs } = set;
  await queue.setRate('c', 2);
  const limited = Array.from({ length: 6 }, (_, index) => `limited${index}`);
  await queue.add(
    ...limited.map((id) => ({ group: 'c', id })),
    { group: 'c', id: 'later', dueAt: START + 60_000 },
    { group: 'c', id: 'replayed', jobClass: 'background' },
  );
  expect(await scripts.reserve()).toHaveLength(2);
  const delayed = [...limited.slice(2), 'later', 'replayed'];
  await expect(idsOf('waiting')).resolves.toEqual([]);
  await expect(idsOf('delayed')).resolves.toEqual(delayed);
  for (const id of delayed) await expect(view.getJobState(id)).resolves.toBe('delayed');
  await expect(view.getJobCounts('waiting', 'delayed')).resolves.toEqual({ waiting: 0, delayed: 6 });
  const pages = [];
  for (let start = 0; start < 8; start += 2) pages.push(...(await idsOf('delayed', start, start + 1)));
  expect(pages).toEqual(delayed);
  passMs(500);
  expect(await scripts.reserve()).toHaveLength(1);
});

test('what a dead worker had waits again, also before it is recovered', async () => {
  await using set = await setUp();
  await set.queue.add({ group: 'a', id: 'taken' });
  await set.scripts.reserve({ leaseMs: 1_000 });
  set.passMs(1_000);
  await expect(set.idsOf('active')).resolves.toEqual([]);
  await expect(set.idsOf('waiting')).resolves.toEqual(['taken']);
  await expect(set.view.getJobState('taken')).resolves.toBe('waiting');
});

test('a job is as its owner describes it, and one that neither waits nor is in work has ended', async () => {
  await using set = await setUp();
  const { view, described } = set;
  const ended = {
    startedAt: START + 100,
    endedAt: START + 200,
    failedReason: 'answered 500',
    ended: 'failed',
  } as const;
  described.set('f1', ended);
  described.set('d1', { ended: 'completed' });
  const job = await view.getJob('f1');
  expect(job?.toJSON()).toMatchObject({
    id: 'f1',
    name: 'job f1',
    data: { id: 'f1' },
    timestamp: START,
    attemptsMade: 2,
    failedReason: 'answered 500',
    processedOn: START + 100,
    finishedOn: START + 200,
  });
  await expect(job?.getState()).resolves.toBe('failed');
  await expect(view.getJobState('d1')).resolves.toBe('completed');
  await expect(view.getJobState('gone')).resolves.toBe('unknown');
  await expect(view.getJob('gone')).resolves.toBeUndefined();
});

test('one that failed lately and is tried again shows why it failed, and when it goes', async () => {
  await using set = await setUp();
  await set.queue.add({ group: 'b', id: 'again', dueAt: START + 5_000 });
  set.described.set('again', { dueAt: START + 5_000, failedReason: 'answered 500' });
  const [job] = await set.view.getDelayed();
  // Under both names: bull-board compares them.
  expect(job?.toJSON()).toMatchObject({
    id: 'again',
    failedReason: 'answered 500',
    delay: 5_000,
    opts: { delay: 5_000 },
  });
});

test('bull-board’s adapter reads all that it asks for, and changes nothing by it', async () => {
  await using set = await setUp();
  const { queue, adapter } = set;
  await queue.add({ group: 'a', id: 'now' }, { group: 'a', id: 'later', dueAt: START + 9_000 });
  const before = [...(await dumpRedis(queue.redis))];
  const states = ['active', 'waiting', 'waiting-children', 'prioritized', 'completed', 'failed', 'delayed'];
  const jobs = await adapter.getJobs(states, 0, 9);
  expect(jobs.map((job) => job.toJSON().id)).toEqual(['now', 'f1', 'f3', 'later']);
  await expect(adapter.getJobCounts()).resolves.toMatchObject({ waiting: 1, delayed: 1, failed: 3 });
  await expect(adapter.getJobLogs('now')).resolves.toEqual(['first', 'second', 'third']);
  await expect(adapter.getJobSchedulers()).resolves.toEqual([]);
  await expect(adapter.getGlobalConcurrency()).resolves.toBeNull();
  await expect(adapter.getConfiguredRateLimit()).resolves.toBeNull();
  await expect(adapter.getActiveRateLimitTtl()).resolves.toBe(0);
  expect([...(await dumpRedis(queue.redis))]).toEqual(before);
});

test('logs are cut into pages, from either end', async () => {
  await using set = await setUp();
  await expect(set.view.getJobLogs('x', 1, 1)).resolves.toEqual({ logs: ['second'], count: 3 });
  await expect(set.view.getJobLogs('x', 0, 1, false)).resolves.toEqual({ logs: ['third', 'second'], count: 3 });
});

test('workers are found by the name of their connections', async () => {
  await using set = await setUp();
  await expect(set.adapter.getWorkers()).resolves.toEqual([]);
  await set.queue.createBackend();
  await expect(set.adapter.getWorkers()).resolves.toHaveLength(1);
});

test('a pause by BullMQ’s queue is the queue’s, and so is its end', async () => {
  await using set = await setUp();
  const { queue, scripts, view } = set;
  await queue.add({ group: 'a', id: 'now' });
  await view.pause();
  await expect(view.isPaused()).resolves.toBe(true);
  await expect(view.getMeta()).resolves.toEqual({ paused: true });
  expect(await scripts.reserve()).toEqual([]);
  await view.resume();
  await expect(view.isPaused()).resolves.toBe(false);
  expect(await scripts.reserve()).toHaveLength(1);
});

test('a retry and a promotion are the owner’s; what the queue has not says so, and does nothing', async () => {
  await using set = await setUp();
  const { queue, view, asked } = set;
  await queue.add({ group: 'a', id: 'now' });
  const job = await view.getJob('now');
  await job?.retry();
  await job?.promote();
  expect(asked).toEqual(['retry now', 'promote now']);
  const before = [...(await dumpRedis(queue.redis))];
  for (const refused of [
    () => view.add('name', {}),
    () => view.drain(),
    () => view.clean(0, 10),
    () => view.promoteJobs(),
    () => view.retryJobs(),
    () => view.setGlobalConcurrency(1),
    () => view.setGlobalRateLimit(1, 1_000),
    () => job?.remove(),
    () => job?.updateData({}),
    () => job?.changeDelay(1),
    () => job?.changePriority({ priority: 1 }),
    () => view.getBackend().moveToActive('token'),
  ]) {
    await expect(refused()).rejects.toThrow(UnsupportedError);
  }
  expect([...(await dumpRedis(queue.redis))]).toEqual(before);
});
