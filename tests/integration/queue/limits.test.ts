import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@herald/test-kit';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue } from './start-queue.ts';

const START = 1_800_000_000_000;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  return {
    queue,
    scripts,
    passMs: (ms: number) => {
      now += ms;
    },
    addMany: (count: number, group = 'g') =>
      queue.add(...Array.from({ length: count }, (_, index) => ({ group, id: `${group}${index}` }))),
    /** Reserves until nothing more comes. */
    async takeAll(groupLimit?: number) {
      const all = [];
      for (;;) {
        const jobs = await scripts.reserve({ ...(groupLimit === undefined ? {} : { groupLimit }) });
        if (jobs.length === 0) return all;
        all.push(...jobs);
      }
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test('a group has no more jobs in work than its limit, however many reserves there are', async () => {
  await using set = await setUp();
  await set.addMany(20);
  expect(await set.takeAll(7)).toHaveLength(7);
  expect(await set.scripts.reserveAll({ groupLimit: 7 })).toMatchObject({ left: [false, false, false, false] });
});

test('a job that ends makes room for the next of a full group, and wakes a worker', async () => {
  await using set = await setUp();
  await set.addMany(20);
  const [first] = await set.takeAll(5);
  expect(await set.queue.redis.exists(set.queue.keys.wake(1))).toBe(0);
  await set.queue.end(first?.handle ?? '', { outcome: 'answered' });
  expect(await set.queue.redis.exists(set.queue.keys.wake(1))).toBe(1);
  expect(await set.takeAll(5)).toHaveLength(1);
});

test('failures without an answer halve the limit down to one, answers raise it one by one up to the configured one', async () => {
  await using set = await setUp();
  await set.addMany(40);
  const jobs = await set.takeAll(5);
  for (const { handle } of jobs.slice(0, 3)) await set.queue.end(handle, { outcome: 'unanswered' });
  for (const { handle } of jobs.slice(3)) await set.queue.end(handle, { outcome: 'unsent' });
  const alone = await set.takeAll(5);
  expect(alone).toHaveLength(1);
  await set.queue.end(alone[0]?.handle ?? '', { outcome: 'answered' });
  const two = await set.takeAll(5);
  expect(two).toHaveLength(2);
  for (const { handle } of two) await set.queue.end(handle, { outcome: 'answered' });
  const four = await set.takeAll(5);
  expect(four).toHaveLength(4);
  for (const { handle } of four) await set.queue.end(handle, { outcome: 'answered' });
  expect(await set.takeAll(5)).toHaveLength(5);
});

test('a lower configured limit counts at once, and a higher one when the group is looked at again', async () => {
  await using set = await setUp();
  await set.addMany(20);
  expect(await set.takeAll(5)).toHaveLength(5);
  expect(await set.takeAll(2)).toHaveLength(0);
  set.passMs(30_000);
  expect(await set.takeAll(8)).toHaveLength(3);
});

test('leases that ended count no longer', async () => {
  await using set = await setUp();
  await set.addMany(8);
  await set.takeAll();
  set.passMs(20_000);
  await set.scripts.recover();
  expect(await findFaults(set.queue)).toEqual([]);
  expect(await set.takeAll()).toHaveLength(5);
});

test('over four workers, one of which is stopped, a group never has more in work than its limit, and all is done', async () => {
  await using queue = await startQueue();
  let inWork = 0;
  let most = 0;
  const done: string[] = [];
  const workers: { close: () => Promise<void> }[] = [];
  for (let count = 0; count < 4; count++) {
    const backend = await queue.createBackend({ groupLimit: 3 });
    workers.push(
      queue.startWorker(backend, async (_job, token = '') => {
        const { id, handle } = backend.reservationOf(token);
        most = Math.max(most, ++inWork);
        await pause(5);
        inWork--;
        done.push(id);
        await queue.end(handle, { outcome: 'answered', limit: 3 });
        backend.ended(token, 'answered');
      }),
    );
  }
  try {
    await queue.add(...Array.from({ length: 120 }, (_, index) => ({ group: 'g', id: `job${index}` })));
    await waitFor('some jobs to be done', () => done.length > 30);
    await workers[0]?.close();
    await waitFor('all jobs to be done', () => done.length >= 120, 20_000);
    expect(new Set(done).size).toBe(120);
    expect(done).toHaveLength(120);
    expect(most).toBe(3);
  } finally {
    for (const worker of workers) await worker.close();
  }
});
