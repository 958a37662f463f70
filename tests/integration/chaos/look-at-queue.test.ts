import { findLeftovers, lookAtQueue, type QueueOfShard } from '../../../chaos/look-at-queue.ts';
import { createQueueScripts } from '../queue/queue-scripts.ts';
import { startQueue } from '../queue/start-queue.ts';

let queue: Awaited<ReturnType<typeof startQueue>>;
let keys: QueueOfShard;
beforeAll(async () => {
  queue = await startQueue();
  keys = { prefix: queue.keys.prefix, queue: queue.keys };
});
afterAll(() => queue[Symbol.asyncDispose]());
beforeEach(() => queue.redis.flushall());

test('a group is seen with the first of its jobs that may go, until they are in work', async () => {
  const scripts = createQueueScripts(queue, Date.now);
  await queue.add({ group: 'a', id: 'second' }, { group: 'a', id: 'first', dueAt: Date.now() - 1_000 });
  expect(await lookAtQueue(queue.redis, keys)).toMatchObject([
    { name: '{q}:a', inWork: 0, isSuspect: true, limit: 10, head: { id: 'first' } },
  ]);
  const jobs = await scripts.reserve();
  expect(await lookAtQueue(queue.redis, keys)).toEqual([]);
  for (const { handle } of jobs) await queue.end(handle, { outcome: 'answered' });
  await queue.add({ group: 'a', id: 'third' });
  expect(await lookAtQueue(queue.redis, keys)).toMatchObject([
    { inWork: 0, isSuspect: false, isSlow: false, limit: 50, head: { id: 'third' } },
  ]);
  const [third] = await scripts.reserve();
  await queue.end(third?.handle ?? '', { outcome: 'answered', tookMs: 5_000 });
  await queue.add({ group: 'a', id: 'fourth' });
  expect(await lookAtQueue(queue.redis, keys)).toMatchObject([
    { isSuspect: false, isSlow: true, limit: 50, head: { id: 'fourth' } },
  ]);
});

test('what is not due, or is held back, is none that may go; what is urgent passes a hold', async () => {
  const scripts = createQueueScripts(queue, Date.now);
  await queue.add({ group: 'a', id: 'late', dueAt: Date.now() + 60_000 }, { group: 'b', id: 'sent' });
  const [sent] = await scripts.reserve();
  await queue.end(sent?.handle ?? '', { heldUntil: Date.now() + 60_000 });
  await queue.add({ group: 'b', id: 'held' });
  const heads = async () => (await lookAtQueue(queue.redis, keys)).map(({ head }) => head?.id);
  expect(await heads()).toEqual([undefined, undefined]);
  await queue.add({ group: 'b', id: 'urgent', jobClass: 'urgent' });
  expect((await heads()).filter(Boolean)).toEqual(['urgent']);
  expect((await lookAtQueue(queue.redis, keys)).find(({ head }) => head)?.limit).toBe(1);
});

test('what waits for the rate of its group is none that may go', async () => {
  // Its next token is half a minute away, however late one looks.
  const scripts = createQueueScripts(queue, () => Date.now() + 30_000);
  await queue.setRate('a', 1);
  await queue.add(...['one', 'two'].map((id) => ({ group: 'a', id })));
  const heads = async () => (await lookAtQueue(queue.redis, keys)).map(({ head }) => head?.id);
  expect(await heads()).toEqual(['one']);
  await scripts.reserve();
  expect(await lookAtQueue(queue.redis, keys)).toMatchObject([{ inWork: 1 }]);
  expect(await heads()).toEqual([undefined]);
});

test('what is left in a queue is told: waiting jobs, places, leases and counts; of one that is done nothing is', async () => {
  const scripts = createQueueScripts(queue, Date.now);
  await queue.add({ group: 'a', id: 'one' });
  expect(await findLeftovers(queue.redis, keys)).toEqual([
    '{q}:q:a has 1 waiting',
    expect.stringMatching(/^\{q\}:ready:2 has the group a: \{.*"p":"2"/),
    '{q}:g:a stands in 2',
    '{q}:queue counts 1 waiting',
  ]);
  const [job] = await scripts.reserve();
  expect(await findLeftovers(queue.redis, keys)).toEqual([
    `the lease ${job?.handle ?? ''} is held`,
    '{q}:g:a counts 1 in work',
  ]);
  await queue.end(job?.handle ?? '', { outcome: 'answered' });
  expect(await findLeftovers(queue.redis, keys)).toEqual([]);
});
