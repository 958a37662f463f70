import { waitFor } from '@herald/test-kit';
import fc from 'fast-check';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults, readQueue } from './read-queue.ts';
import { startQueue, type EndOptions } from './start-queue.ts';

const START = 1_800_000_000_000;

const anEnd: fc.Arbitrary<EndOptions> = fc.record(
  {
    outcome: fc.constantFrom('answered', 'unanswered', 'unsent'),
    isProbe: fc.boolean(),
    againAt: fc.constantFrom(START, START + 5_000),
    heldUntil: fc.constantFrom(START + 10_000, START + 40_000),
    tookMs: fc.constantFrom(20, 1_500, 9_000),
    hasSucceeded: fc.boolean(),
  },
  { requiredKeys: ['outcome'] },
);

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  return {
    queue,
    scripts: createQueueScripts(queue, () => now),
    passMs: (ms: number) => {
      now += ms;
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test('a job whose lease ended waits where it stood', async () => {
  await using set = await setUp();
  await set.queue.add({ group: 'g', id: 'a', jobClass: 'urgent' }, { group: 'g', id: 'b' });
  await set.scripts.reserve();
  await set.queue.add({ group: 'g', id: 'c', jobClass: 'urgent' });
  set.passMs(19_999);
  expect(await set.scripts.recover()).toEqual([]);
  set.passMs(1);
  expect(new Set((await set.scripts.recover()) as string[])).toEqual(new Set(['a', 'b']));
  expect((await set.scripts.reserve()).map(({ id }) => id)).toEqual(['a', 'c', 'b']);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a job that was asked for while it was in work comes back where its owner says', async () => {
  await using set = await setUp();
  const { queue, scripts } = set;
  const ids = ['a', 'b', 'c'];
  await queue.add(...ids.map((id) => ({ group: 'g', id })));
  const jobs = await scripts.reserve();
  for (const id of ids.slice(1)) await queue.redis.hset(`${queue.keys.prefix}j:${id}`, 'asked', '1');
  await queue.redis.hset(`${queue.keys.prefix}j:c`, 'moved', 'h');
  await scripts.putBack(jobs.slice(0, 2));
  set.passMs(20_000);
  await scripts.recover();
  const groups = await readQueue(queue);
  const waitingIn = (group: string) => Object.fromEntries(groups.get(group)?.waiting ?? []);
  expect(waitingIn('g')).toEqual({ a: 1e13 + START, b: START });
  expect(waitingIn('h')).toEqual({ c: START + 20_000 });
  expect(await findFaults(queue)).toEqual([]);
});

test('a job that its owner can’t read comes back where it stood, and keeps no other from it', async () => {
  await using set = await setUp();
  const { queue, scripts } = set;
  await queue.add({ group: 'g', id: 'a' }, { group: 'g', id: 'b' }, { group: 'g', id: 'c' });
  const jobs = await scripts.reserve();
  await queue.redis.set(`${queue.keys.prefix}j:a`, 'of another type');
  await scripts.putBack(jobs.slice(1));
  set.passMs(20_000);
  await scripts.recover();
  expect((await scripts.reserve()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

test('whoever lost the lease neither enqueues the job again nor frees a slot', async () => {
  await using set = await setUp();
  await set.queue.add({ group: 'g', id: 'a' }, { group: 'g', id: 'b' });
  const lost = await set.scripts.reserve();
  set.passMs(20_000);
  await set.scripts.recover();
  const taken = await set.scripts.reserve();
  const [first, second] = lost;
  if (!first || !second) throw new Error('nothing was reserved');
  expect(await set.queue.end(first.handle, { outcome: 'answered', againAt: START })).toMatchObject({ held: false });
  expect(await set.scripts.finish(second)).toBe('lost');
  expect(await set.scripts.putBack(lost)).toBe(0);
  expect(await findFaults(set.queue)).toEqual([]);
  expect(await set.scripts.putBack(taken)).toBe(2);
  expect(await set.scripts.putBack(taken)).toBe(0);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a reserve that is sent again, since its connection broke before the reply, brings the same jobs and no others', async () => {
  await using set = await setUp();
  await set.queue.add(...['a', 'b', 'c'].map((id) => ({ group: 'g', id })), { group: '!x', id: 'express' });
  const once = { nonce: 'once', rooms: [10, 10, 2] as const };
  const first = await set.scripts.reserve(once);
  expect(first.map(({ id }) => id)).toEqual(['express', 'a', 'b']);
  const again = await set.scripts.reserve(once);
  expect([...again].sort((one, other) => one.id.localeCompare(other.id))).toEqual(
    [...first].sort((one, other) => one.id.localeCompare(other.id)),
  );
  expect(await findFaults(set.queue)).toEqual([]);
  // Another one of the same ms has jobs of its own.
  expect((await set.scripts.reserve()).map(({ id }) => id)).toEqual(['c']);
});

test('a probe that is reserved again is a probe, and goes once', async () => {
  await using set = await setUp();
  await set.queue.add(...['a', 'b', 'c', 'd', 'e'].map((id) => ({ group: 'g', id })));
  const failed = await set.scripts.reserve();
  for (const { handle } of failed) await set.queue.end(handle, { outcome: 'unanswered', againAt: START });
  set.passMs(5_000);
  const first = await set.scripts.reserve({ nonce: 'once' });
  expect(first).toMatchObject([{ isProbe: true, ring: 2 }]);
  expect(await set.scripts.reserve({ nonce: 'once' })).toEqual(first);
  expect(await set.scripts.reserve()).toEqual([]);
});

test('what takes longer than its lease keeps it, though the clock of the machine is set back, and a lease that was lost is told of', async () => {
  await using queue = await startQueue(() => Math.round(performance.timeOrigin + performance.now()));
  const backend = await queue.createBackend({ leaseMs: 800 });
  const ended = Promise.withResolvers<undefined>();
  const told: unknown[] = [];
  const worker = queue.startWorker(backend, () => ended.promise);
  worker.on('error', (error) => told.push(error.message));
  const clock = jest.spyOn(Date, 'now');
  try {
    await queue.add({ group: 'g', id: 'kept' }, { group: 'g', id: 'lost' });
    const leases = () => queue.redis.zrange(queue.keys.leases, '0', '-1', 'WITHSCORES');
    const begun = await waitFor('both to be in work', async () => {
      const held = await leases();
      return held.length === 4 && held;
    });
    clock.mockImplementation(() => performance.timeOrigin + performance.now() - 3_600_000);
    const handleOf = (id: string) => begun.find((handle) => handle.endsWith(id)) ?? '';
    await queue.redis.zrem(queue.keys.leases, handleOf('lost'));
    const endsAt = Number(begun[1]) + 2_000;
    await waitFor('a lease to be renewed a few times', async () => Number((await leases())[1]) > endsAt);
    // A lease that was lost does not come back: its job may be in work elsewhere.
    expect(await leases()).toEqual([handleOf('kept'), expect.any(String)]);
    expect(told).toContain('the lease of lost was lost: it was canceled, or may be done twice');
  } finally {
    clock.mockRestore();
    ended.resolve(undefined);
    await worker.close();
  }
});

test('one recovery ends all leases that are over, however many', async () => {
  await using queue = await startQueue();
  await queue.add(...Array.from({ length: 450 }, (_, index) => ({ group: `g${index}`, id: `job${index}` })));
  const scripts = createQueueScripts(queue, () => Date.now());
  for (let reserved = 0; reserved < 450;) reserved += (await scripts.reserve({ rooms: [0, 0, 50], leaseMs: 0 })).length;
  const backend = await queue.createBackend();
  try {
    expect(await backend.moveStalledJobsToWait()).toHaveLength(450);
    expect(await findFaults(queue)).toEqual([]);
  } finally {
    await backend.close();
  }
});

test('the jobs of a worker that stands still are done by another, once', async () => {
  await using queue = await startQueue();
  const dead = createQueueScripts(queue, () => Date.now());
  await queue.add(
    ...Array.from({ length: 8 }, (_, index) => ({ group: index % 3 === 0 ? 'g1' : 'g0', id: `job${index}` })),
  );
  const lost = await dead.reserve({ leaseMs: 500 });
  expect(lost).toHaveLength(8);
  const backend = await queue.createBackend();
  const done: string[] = [];
  const worker = queue.startWorker(
    backend,
    async (_job, token = '') => {
      const { id, handle } = backend.reservationOf(token);
      await queue.end(handle, { outcome: 'answered' });
      backend.ended(token, 'answered');
      done.push(id);
    },
    200,
  );
  try {
    await waitFor('all jobs to be done', () => done.length >= 8, 5_000);
    expect(done.toSorted()).toEqual(lost.map(({ id }) => id).toSorted());
    expect(await findFaults(queue)).toEqual([]);
  } finally {
    await worker.close();
  }
});

test('jobs that end in one run of a script leave their groups as if each had ended in a run of its own', async () => {
  await using set = await setUp();
  const { queue, scripts } = set;
  const inWork = async (count: number) => {
    await queue.redis.flushdb();
    const ids = Array.from({ length: count }, (_, index) => index);
    await queue.add(...ids.map((index) => ({ group: index % 3 === 0 ? 'g1' : 'g0', id: `job${index}`, tenant: 'ws' })));
    const jobs = await scripts.reserve({ rooms: [0, 20, 20, 20], groupLimit: 20, nonce: 'same' });
    expect(jobs).toHaveLength(count);
    return jobs;
  };
  const started = async (count: number, ends: readonly EndOptions[]) =>
    (await inWork(count)).map(({ handle }, index) => ({ handle, ...ends[index] }));
  await fc.assert(
    fc.asyncProperty(fc.array(anEnd, { minLength: 2, maxLength: 14 }), async (ends) => {
      const alone = [];
      for (const { handle, ...end } of await started(ends.length, ends)) alone.push(await queue.end(handle, end));
      const expected = await readQueue(queue);
      expect(await queue.endAll(await started(ends.length, ends))).toEqual(alone);
      expect(await readQueue(queue)).toEqual(expected);
      expect(await findFaults(queue)).toEqual([]);
    }),
    { numRuns: 20, seed: 7 },
  );
}, 30_000);
