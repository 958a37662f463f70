import { waitFor } from '@herald/test-kit';
import type { GroupBackend } from '@herald/queue/group-backend';
import { findFaults, readQueue } from './read-queue.ts';
import { startQueue } from './start-queue.ts';

type Queue = Awaited<ReturnType<typeof startQueue>>;

/** Jobs end when `release` says so, or at once after that. */
async function startHolding(queue: Queue, options: Parameters<Queue['createBackend']>[0] = {}) {
  const backend: GroupBackend = await queue.createBackend(options);
  const started: string[] = [];
  const done: string[] = [];
  const released = Promise.withResolvers<undefined>();
  const worker = queue.startWorker(
    backend,
    async (_job, token = '') => {
      const { id, handle } = backend.reservationOf(token);
      started.push(id);
      await released.promise;
      await queue.end(handle, { outcome: 'answered' });
      backend.ended(token, 'answered');
      done.push(id);
    },
    5_000,
    options.blockLimitMs,
  );
  return {
    backend,
    worker,
    started,
    done,
    release: () => {
      released.resolve(undefined);
    },
  };
}

const jobs = (count: number, groups = 1) =>
  Array.from({ length: count }, (_, index) => ({ group: `g${index % groups}`, id: `job${index}` }));

test('a worker that is stopped while it waits closes at once', async () => {
  await using queue = await startQueue();
  const { worker, backend } = await startHolding(queue, { blockLimitMs: 10_000 });
  await waitFor('it to wait', async () => String(await queue.redis.client('LIST')).includes('cmd=bzpopmin'));
  const startedAt = performance.now();
  await worker.close();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(backend.inWork()).toBe(0);
});

test('a worker that is stopped finishes what it has started and leaves the rest where it stood', async () => {
  await using queue = await startQueue();
  await queue.add(...jobs(40, 8));
  const { worker, started, done, release } = await startHolding(queue);
  await waitFor('some to be in work', () => started.length > 0);
  const closed = worker.close();
  release();
  await closed;
  expect(new Set(done)).toEqual(new Set(started));
  const groups = [...(await readQueue(queue)).values()];
  expect(groups.flatMap(({ leases }) => leases)).toEqual([]);
  expect(groups.flatMap(({ waiting }) => [...waiting.keys()])).toHaveLength(40 - done.length);
});

test('a worker that is paused alone goes on when it is resumed', async () => {
  await using queue = await startQueue();
  const { worker, done, release } = await startHolding(queue);
  release();
  try {
    await queue.add(...jobs(5));
    await waitFor('all to be done', () => done.length === 5);
    await worker.pause();
    await queue.add({ group: 'g', id: 'later' });
    await worker.resume();
    await waitFor('the other to be done', () => done.length === 6, 3_000);
    expect(done).toContain('later');
  } finally {
    await worker.close();
  }
});

test('connections that break while it waits and while jobs are in work lose nothing', async () => {
  await using queue = await startQueue();
  const { worker, started, done, release } = await startHolding(queue);
  try {
    await queue.add(...jobs(5));
    await waitFor('jobs to be in work', () => started.length > 0);
    await queue.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    release();
    await waitFor('all to be done', () => done.length === 5, 5_000);
    await queue.redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await queue.add({ group: 'g', id: 'after' });
    await waitFor('the job after it to be done', () => done.length === 6, 3_000);
    expect(await findFaults(queue)).toEqual([]);
  } finally {
    await worker.close();
  }
});

test('a job whose processor throws comes again later', async () => {
  await using queue = await startQueue();
  const counted: number[] = [];
  const errorDelayMs = (errors: number) => 50 * counted.push(errors);
  const backend = await queue.createBackend({ errorDelayMs });
  const attempts: number[] = [];
  const worker = queue.startWorker(backend, async (_job, token = '') => {
    attempts.push(Date.now());
    if (attempts.length < 3) throw new Error('a bug');
    await queue.end(backend.reservationOf(token).handle, { outcome: 'answered' });
    backend.ended(token, 'answered');
  });
  try {
    await queue.add({ group: 'g', id: 'a' });
    await waitFor('the third attempt', () => attempts.length === 3, 5_000);
    const [first = 0, second = 0, third = 0] = attempts;
    expect(second - first).toBeGreaterThanOrEqual(50);
    expect(third - second).toBeGreaterThanOrEqual(100);
    expect(counted).toEqual([1, 2]);
  } finally {
    await worker.close();
  }
});

test('a job that can neither be ended nor put back keeps no slot of its worker', async () => {
  await using queue = await startQueue();
  const commands = await queue.connect('refused');
  let isRefused = true;
  const backend = await queue.createBackend({
    leaseMs: 500,
    defineScript: (name, lua) => {
      const script = queue.scriptOn(commands, lua);
      const isEnd = name === 'queueFinish' || name === 'queuePutBack';
      return (keys, args) =>
        isEnd && isRefused ? Promise.reject(new Error('READONLY this is a replica')) : script(keys, args);
    },
  });
  let runs = 0;
  const worker = queue.startWorker(
    backend,
    () => {
      runs++;
      return Promise.resolve();
    },
    200,
  );
  try {
    await queue.add(...jobs(3));
    await waitFor('the jobs to run', () => runs >= 3);
    await waitFor('the slots to be free', () => backend.inWork() === 0, 3_000);
    expect(runs).toBeGreaterThanOrEqual(3);
    isRefused = false;
  } finally {
    await worker.close();
  }
});
