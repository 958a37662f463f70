import { waitFor } from '@herald/test-kit';
import { startQueue } from './start-queue.ts';

type Queue = Awaited<ReturnType<typeof startQueue>>;

/** Longer than any wait of these tests should be: what comes earlier was woken, not found at the end of a block. */
const BLOCK_LIMIT_MS = 10_000;
const SOON_MS = 5_000;

async function startTwo(queue: Queue) {
  const startedAt = new Map<string, number>();
  const workers: { close: () => Promise<void> }[] = [];
  for (let count = 0; count < 2; count++) {
    const backend = await queue.createBackend({ blockLimitMs: BLOCK_LIMIT_MS });
    workers.push(
      queue.startWorker(
        backend,
        async (_job, token = '') => {
          const { id, handle } = backend.reservationOf(token);
          startedAt.set(id, Date.now());
          await queue.end(handle, { outcome: 'answered' });
          backend.ended(token, 'answered');
        },
        60_000,
        BLOCK_LIMIT_MS,
      ),
    );
  }
  // Both wait, and no more.
  await waitFor('both to block', async () => {
    const clients = String(await queue.redis.client('LIST'));
    return clients.split('\n').filter((client) => client.includes('cmd=bzpopmin')).length === 2;
  });
  return {
    startedAt,
    async [Symbol.asyncDispose]() {
      for (const worker of workers) await worker.close();
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
