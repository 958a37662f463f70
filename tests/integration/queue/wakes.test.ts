import { waitFor } from '@herald/test-kit';
import { startQueue } from './start-queue.ts';

type Queue = Awaited<ReturnType<typeof startQueue>>;

/** Longer than any wait of these tests should be: what comes earlier was woken, not found at the end of a block. */
const BLOCK_LIMIT_MS = 10_000;
const SOON_MS = 5_000;

/** Starts a worker, and resolves once it waits, as so many do then. */
async function startOne(queue: Queue, startedAt: Map<string, number>, count: number) {
  const backend = await queue.createBackend({ blockLimitMs: BLOCK_LIMIT_MS });
  const worker = queue.startWorker(
    backend,
    async (_job, token = '') => {
      const { id, handle } = backend.reservationOf(token);
      startedAt.set(id, Date.now());
      await queue.end(handle, { outcome: 'answered' });
      backend.ended(token, 'answered');
    },
    60_000,
    BLOCK_LIMIT_MS,
  );
  await waitForWaiting(queue, count);
  return { backend, worker, startedAt, [Symbol.asyncDispose]: () => worker.close() };
}

async function waitForWaiting(queue: Queue, count: number): Promise<void> {
  await waitFor(`${count} to block`, async () => {
    const clients = String(await queue.redis.client('LIST'));
    return clients.split('\n').filter((client) => /\bflags=\w*b/.test(client)).length === count;
  });
}

async function startTwo(queue: Queue) {
  const startedAt = new Map<string, number>();
  const first = await startOne(queue, startedAt, 1);
  const second = await startOne(queue, startedAt, 2);
  return {
    startedAt,
    first,
    second,
    async [Symbol.asyncDispose]() {
      for (const { worker } of [first, second]) await worker.close();
    },
  };
}

test('a job that is added while all workers wait is started at once', async () => {
  await using queue = await startQueue();
  await using two = await startTwo(queue);
  for (let index = 0; index < 20; index++) {
    await queue.add({ group: `g${index}`, id: `job${index}` });
    await waitFor('the job to be started', () => two.startedAt.has(`job${index}`), SOON_MS);
  }
  expect(two.startedAt.size).toBe(20);
});

test('a job that comes due while all wait starts then, however seldom Redis looks at the time by itself', async () => {
  await using queue = await startQueue();
  await using one = await startOne(queue, new Map(), 1);
  // Once a second is the least that Redis takes.
  await queue.redis.config('SET', 'hz', '1');
  const lateMs: number[] = [];
  for (let index = 0; index < 6; index++) {
    const [id, dueAt] = [`job${index}`, Date.now() + 50 + 40 * index];
    await queue.add({ group: 'g', id, dueAt });
    // Without a command: each has Redis look at the time.
    await waitFor('the job to be started', () => one.startedAt.has(id), SOON_MS);
    lateMs.push((one.startedAt.get(id) ?? 0) - dueAt);
  }
  expect(lateMs.filter((ms) => ms > 250)).toEqual([]);
});

test('a delayed job starts when it is due, also one that comes before those already known', async () => {
  await using queue = await startQueue();
  await using two = await startTwo(queue);
  const now = Date.now();
  const dueAt = new Map([
    ['last', now + 1_500],
    ['middle', now + 1_000],
    ['first', now + 500],
  ]);
  for (const [id, at] of dueAt) await queue.add({ group: id, id, dueAt: at });
  await waitFor('all to be started', () => two.startedAt.size === 3);
  for (const [id, at] of dueAt) {
    const lateMs = (two.startedAt.get(id) ?? 0) - at;
    expect(lateMs).toBeGreaterThanOrEqual(0);
    expect(lateMs).toBeLessThan(SOON_MS);
  }
});

test('an express job starts at once while both other rings are busy with waiting jobs', async () => {
  await using queue = await startQueue();
  await using two = await startTwo(queue);
  await queue.add(...Array.from({ length: 2_000 }, (_, index) => ({ group: `g${index % 50}`, id: `job${index}` })));
  await queue.add({ group: '!express', id: 'express' });
  await waitFor('the express job to be started', () => two.startedAt.has('express'), SOON_MS);
  // Behind all that waited it would be the last of 2,001.
  expect([...two.startedAt.keys()].indexOf('express')).toBeLessThan(1_000);
  await waitFor('all jobs to be done', () => two.startedAt.size === 2_001, 20_000);
});

test('a worker on hold leaves to others what comes due, and has it at once when it goes on', async () => {
  await using queue = await startQueue();
  await using two = await startTwo(queue);
  // The one that waits for longest gets the mark.
  const { backend, worker } = two.first;
  void worker.pause(true);
  await backend.hold();
  await queue.add({ group: 'a', id: 'for-others' });
  await waitFor('the other one to start it', () => two.startedAt.has('for-others'), SOON_MS);
  await two.second.worker.close();
  backend.resume();
  void worker.resume();
  await waitForWaiting(queue, 1);
  void worker.pause(true);
  await backend.hold();
  await queue.add({ group: 'b', id: 'for-itself' });
  await waitForWaiting(queue, 0);
  backend.resume();
  void worker.resume();
  await waitFor('it to start what came meanwhile', () => two.startedAt.has('for-itself'), SOON_MS);
  expect([...two.startedAt.keys()]).toEqual(['for-others', 'for-itself']);
});
