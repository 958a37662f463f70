import { waitFor } from '@herald/test-kit';
import { startQueue } from './start-queue.ts';

test('BullMQ’s worker does every job of many groups once, and the queue is empty afterwards', async () => {
  await using queue = await startQueue();
  const backend = await queue.createBackend();
  const done: string[] = [];
  const worker = queue.startWorker(backend, async (_job, token = '') => {
    const { id, handle } = backend.reservationOf(token);
    await queue.end(handle, { outcome: 'answered' });
    backend.ended(token, 'answered');
    done.push(id);
  });
  try {
    const ids = Array.from({ length: 500 }, (_, index) => `job${index}`);
    for (const id of ids.slice(0, 100)) await queue.add({ group: `g${id.length}`, id });
    await queue.add(...ids.slice(100).map((id, index) => ({ group: `g${index % 20}`, id })));
    await waitFor('all jobs to be done', () => Promise.resolve(done.length === ids.length), 10_000);
    expect(new Set(done)).toEqual(new Set(ids));
    expect(await queue.redis.zcard(queue.keys.leases)).toBe(0);
    expect(await queue.redis.zcard(queue.keys.later)).toBe(0);
  } finally {
    await worker.close();
  }
});
