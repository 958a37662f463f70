import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '@herald/test-kit';
import type { GroupBackend } from '@herald/queue/group-backend';
import { startQueue, type QueueJob } from './start-queue.ts';

type Queue = Awaited<ReturnType<typeof startQueue>>;

const SECONDS = 2;

/** A worker whose jobs end when they are told, and how often it reserves a second from now on. */
async function startCounted(queue: Queue, groupLimit = 5) {
  let reserves = 0;
  let isRefused = false;
  const ends: (() => void)[] = [];
  const commands = await queue.connect('counted');
  const backend: GroupBackend = await queue.createBackend({
    concurrency: 4,
    groupLimit,
    defineScript: (name, lua) => {
      const script = queue.scriptOn(commands, lua);
      return async (keys, args) => {
        if (name !== 'queueReserve') return await script(keys, args);
        reserves++;
        // As late as Redis would.
        await setImmediate();
        if (isRefused) throw new Error('READONLY this is a replica');
        return await script(keys, args);
      };
    },
  });
  const worker = queue.startWorker(backend, async (_job, token = '') => {
    const { handle } = backend.reservationOf(token);
    await new Promise<void>((resolve) => ends.push(resolve));
    await queue.end(handle, { outcome: 'unsent', limit: groupLimit });
    backend.ended(token, 'unsent');
  });
  return {
    backend,
    refuse: (isSo: boolean) => {
      isRefused = isSo;
    },
    inWork: () => ends.length,
    async countPerSecond(): Promise<number> {
      const before = reserves;
      // Time is what is measured.
      await pause(1_000 * SECONDS);
      return (reserves - before) / SECONDS;
    },
    async [Symbol.asyncDispose]() {
      const closed = worker.close();
      for (const end of ends) end();
      await closed;
    },
  };
}

const jobs = (count: number, job: Partial<QueueJob> = {}) =>
  Array.from({ length: count }, (_, index) => ({ group: 'g', id: `job${index}`, ...job }));

/** One a block limit, which is a second here, and what an ending wait is worth. */
const AT_REST = 3;
/** Ten a second: whether a slow group has left its room to others is told by nobody. */
const SHORT_OF_ROOM = 13;

test('a worker at rest reserves once a block limit', async () => {
  await using queue = await startQueue();
  await using counted = await startCounted(queue);
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(AT_REST);
});

test('jobs that are due later cost a worker nothing', async () => {
  await using queue = await startQueue();
  await queue.add(...jobs(50, { dueAt: Date.now() + 60_000 }));
  await using counted = await startCounted(queue);
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(AT_REST);
});

test('a paused queue is looked at once a second, also when delayed jobs have become due', async () => {
  await using queue = await startQueue();
  await using counted = await startCounted(queue);
  const dueAt = Date.now() + 3_000;
  await queue.add(...jobs(1, { dueAt }));
  await waitFor(
    'the worker to know of the delayed job',
    async () => (await queue.redis.exists(queue.keys.wake(0))) === 0,
  );
  await counted.backend.pause(true);
  await waitFor('the job to be due', () => dueAt < Date.now());
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(AT_REST);
  expect(counted.inWork()).toBe(0);
  await counted.backend.pause(false);
  await waitFor('the job to be in work', () => counted.inWork() === 1);
});

test('a full group costs a worker nothing', async () => {
  await using queue = await startQueue();
  await queue.add(...jobs(20));
  await using counted = await startCounted(queue, 1);
  await waitFor('the group to be full', () => counted.inWork() === 1);
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(AT_REST);
});

test('suspects that are ready and find no room are looked at ten times a second', async () => {
  await using queue = await startQueue();
  await queue.add(...jobs(20));
  await using counted = await startCounted(queue);
  await waitFor('half of the worker to be busy', () => counted.inWork() === 2);
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(SHORT_OF_ROOM);
});

test('a Redis that refuses reserves is asked twice a second, and all goes on when it takes them again', async () => {
  await using queue = await startQueue();
  await using counted = await startCounted(queue);
  counted.refuse(true);
  expect(await counted.countPerSecond()).toBeLessThanOrEqual(AT_REST);
  counted.refuse(false);
  await queue.add(...jobs(1));
  await waitFor('the job to be in work', () => counted.inWork() === 1);
});
