import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type QueueJob } from './start-queue.ts';

const START = 1_800_000_000_000;

async function setUp(...jobs: readonly Omit<QueueJob, 'group'>[]) {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  await queue.add(...jobs.map((job) => ({ group: 'g', ...job })));
  return {
    queue,
    scripts,
    /** Ids in the order in which they are reserved, one at a time. */
    async takeAll(): Promise<readonly string[]> {
      const ids: string[] = [];
      for (;;) {
        const [job] = await scripts.reserve({ rooms: [1, 1, 1], groupLimit: 100 });
        if (!job) return ids;
        ids.push(job.id);
      }
    },
    passMs: (ms: number) => {
      now += ms;
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test('what is urgent goes before what is usual, that before what is in the background, each by its time', async () => {
  await using set = await setUp(
    { id: 'background', jobClass: 'background', dueAt: START - 9 },
    { id: 'second', dueAt: START - 1 },
    { id: 'first', dueAt: START - 2 },
    { id: 'urgent', jobClass: 'urgent' },
  );
  expect(await set.takeAll()).toEqual(['urgent', 'first', 'second', 'background']);
});

test('jobs that are due later hide none of another class that are due', async () => {
  const later = { dueAt: START + 5_000 };
  const early = Array.from({ length: 6 }, (_, index) => ({
    id: `urgent${index}`,
    jobClass: 'urgent' as const,
    ...later,
  }));
  await using set = await setUp(
    ...early,
    { id: 'usual' },
    { id: 'usual later', ...later },
    { id: 'background', jobClass: 'background' },
  );
  expect(await set.takeAll()).toEqual(['usual', 'background']);
  expect(await findFaults(set.queue)).toEqual([]);
  set.passMs(5_000);
  expect(await set.takeAll()).toEqual([...early.map(({ id }) => id), 'usual later']);
});

test('a worker whose clock is behind takes what has just been added, all of it, and nothing that is due later', async () => {
  const added = ['urgent', 'a', 'b', 'c', 'd', 'e', 'background'] as const;
  const classOf = { urgent: 'urgent', background: 'background' } as const;
  await using set = await setUp(
    ...added.map((id) => ({ id, ...(id in classOf && { jobClass: classOf[id as keyof typeof classOf] }) })),
    { id: 'retry', dueAt: START + 3 },
  );
  set.passMs(-3);
  expect(await set.takeAll()).toEqual(added);
  expect(await findFaults(set.queue)).toEqual([]);
  set.passMs(5);
  expect(await set.takeAll()).toEqual([]);
  set.passMs(1);
  expect(await set.takeAll()).toEqual(['retry']);
});

test('a job that is added again while it waits moves to its new place', async () => {
  await using set = await setUp({ id: 'a', dueAt: START + 60_000 }, { id: 'b' });
  await set.queue.add({ group: 'g', id: 'a', jobClass: 'urgent' });
  expect(await set.takeAll()).toEqual(['a', 'b']);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a group with nothing due is looked at again when its first job is', async () => {
  await using set = await setUp({ id: 'a', dueAt: START + 60_000 });
  expect(await set.scripts.reserveAll()).toMatchObject({
    jobs: [],
    left: [false, false, false, false],
    lookAgainAt: START + 60_000,
  });
  await set.queue.add({ group: 'g', id: 'b', dueAt: START + 1_000 });
  expect(await set.scripts.reserveAll()).toMatchObject({ lookAgainAt: START + 1_000 });
});

test('a job of which nothing can be loaded is reserved all the same, and spoils no other', async () => {
  await using set = await setUp({ id: 'gone' }, { id: 'broken' }, { id: 'sound' });
  await set.queue.redis.del(`${set.queue.keys.prefix}j:gone`, `${set.queue.keys.prefix}j:broken`);
  await set.queue.redis.set(`${set.queue.keys.prefix}j:broken`, 'no hash');
  const jobs = await set.scripts.reserve();
  expect(new Map(jobs.map(({ id, loaded }) => [id, loaded]))).toEqual(
    new Map([
      ['gone', null],
      ['broken', null],
      ['sound', 'sound'],
    ]),
  );
});

test('a job that nothing was recorded of waits again, and one that is finished leaves', async () => {
  await using set = await setUp({ id: 'finished' }, { id: 'open' });
  const jobs = await set.scripts.reserve();
  await set.queue.redis.hset(`${set.queue.keys.prefix}j:finished`, 'done', '1');
  const replies = new Map<string, unknown>();
  for (const job of jobs) replies.set(job.id, await set.scripts.finish(job));
  expect(replies).toEqual(
    new Map([
      ['finished', 'finished'],
      ['open', 'waits'],
    ]),
  );
  expect(await set.takeAll()).toEqual(['open']);
});

test('a group that is emptied by other scripts leaves its ring by itself', async () => {
  await using set = await setUp({ id: 'a' });
  await set.queue.redis.del(set.queue.keys.waiting('g'));
  expect(await set.scripts.reserveAll()).toMatchObject({ jobs: [], left: [false, false, false, false] });
  expect(await findFaults(set.queue)).toEqual([]);
});

test('what was known of a group may be forgotten while its jobs wait', async () => {
  await using set = await setUp({ id: 'a' }, { id: 'b', dueAt: START + 1_000 });
  await set.queue.redis.del(set.queue.keys.group('g'));
  await set.queue.add({ group: 'g', id: 'c' });
  expect(await set.takeAll()).toEqual(['a', 'c']);
  await set.queue.redis.hdel(set.queue.keys.group('g'), 'p');
  await set.queue.add({ group: 'g', id: 'd' });
  set.passMs(1_000);
  expect(await set.takeAll()).toEqual(['d', 'b']);
  expect(await findFaults(set.queue)).toEqual([]);
});
