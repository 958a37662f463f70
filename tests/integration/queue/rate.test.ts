import { createGroupReader, createQueueStateReader } from '@herald/queue';
import { createQueueScripts, type ReserveOptions } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type QueueJob } from './start-queue.ts';

const START = 1_800_000_000_000;
const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `job${String(index).padStart(5, '0')}`);
const ROOMY: ReserveOptions = { rooms: [100, 100, 100], groupLimit: 10_000 };

/** A group `g` that gives ten jobs a second, unless another rate is given. */
async function setUp(rate = 10) {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const deps = {
    prefix: queue.keys.prefix,
    defineScript: (_name: string, lua: string) => queue.scriptOn(queue.redis, lua),
    now: () => now,
  };
  // They have answered before, so that no suspicion limits them.
  const makeSound = (group: string) => queue.redis.hset(queue.keys.group(group), 'ok', '1');
  await makeSound('g');
  await queue.setRate('g', rate);
  const takeJobs = (options: ReserveOptions = {}) => scripts.reserve({ ...ROOMY, ...options });
  return {
    queue,
    scripts,
    makeSound,
    takeJobs,
    groups: createGroupReader(deps),
    readState: createQueueStateReader(deps),
    now: () => now,
    passMs: (ms: number) => {
      now += ms;
    },
    addMany: (count: number, { id = 'job', ...job }: Partial<QueueJob> = {}, first = 0) =>
      queue.add(
        ...Array.from({ length: count }, (_, index) => ({
          group: 'g',
          ...job,
          id: `${id}${String(first + index).padStart(5, '0')}`,
        })),
      ),
    take: async (options: ReserveOptions = {}) => (await takeJobs(options)).map(({ id }) => id),
    /** Jobs that a worker would get, which comes whenever the queue asks for it. */
    async takeUntil(end: number): Promise<{ readonly at: number; readonly id: string }[]> {
      const taken = [];
      for (;;) {
        const { jobs, lookAgainAt } = await scripts.reserveAll(ROOMY);
        taken.push(...jobs.map(({ id }) => ({ at: now - START, id })));
        // On one connection, Redis gets them in this order.
        await Promise.all(jobs.map(({ handle }) => queue.end(handle, { outcome: 'answered', limit: 10_000 })));
        if (jobs.length > 0) continue;
        if (lookAgainAt === 0 || lookAgainAt > end) return taken;
        now = Math.max(now, lookAgainAt);
      }
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

describe('the rate of a group', () => {
  test('a group of 10/s gives 10 at once and then one every 100 ms', async () => {
    await using set = await setUp();
    await set.addMany(25);
    const taken = await set.takeUntil(START + 10_000);
    expect(taken.map(({ id }) => id)).toEqual(namesOf(25));
    expect(taken.map(({ at }) => at)).toEqual([
      ...Array<number>(10).fill(0),
      ...Array.from({ length: 15 }, (_, index) => 100 * (index + 1)),
    ]);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test.each([1, 3, 7, 99, 1_000])('%i/s gives a second’s worth at once and then exactly its rate', async (rate) => {
    await using set = await setUp(rate);
    const count = 3 * rate;
    await set.addMany(count);
    const taken = await set.takeUntil(START + 10_000);
    expect(taken).toHaveLength(count);
    expect(taken.filter(({ at }) => at === 0)).toHaveLength(rate);
    const ms = (taken.at(-1)?.at ?? 0) / 2;
    expect(ms).toBeGreaterThanOrEqual(999);
    expect(ms).toBeLessThanOrEqual(1_010);
    // It wakes a worker 50 times a second at most.
    expect(new Set(taken.map(({ at }) => at)).size).toBeLessThanOrEqual(1 + 2 * Math.min(rate, 50));
  });

  test('a bucket that nobody uses fills up to one second', async () => {
    await using set = await setUp();
    await set.addMany(12);
    expect(await set.take()).toHaveLength(10);
    expect(await set.takeUntil(START + 5_000)).toHaveLength(2);
    set.passMs(3_600_000);
    await set.addMany(30, {}, 100);
    expect(await set.take()).toHaveLength(10);
  });

  test('a pause and an open breaker save no tokens beyond the burst', async () => {
    await using set = await setUp();
    await set.addMany(50);
    const [first, ...others] = await set.takeJobs();
    await set.queue.end(first?.handle ?? '', { outcome: 'answered', heldUntil: START + 60_000 });
    for (const { handle } of others) await set.queue.end(handle, { outcome: 'answered' });
    set.passMs(30_000);
    expect(await set.take()).toEqual([]);
    expect(await findFaults(set.queue)).toEqual([]);
    set.passMs(30_000);
    expect(await set.take()).toHaveLength(10);
    expect(await set.take()).toEqual([]);
  });

  test.each([
    [100, 10],
    [1, 0],
  ])('a change to %i/s keeps what the bucket has spent, so that %i go after 100 ms', async (rate, count) => {
    await using set = await setUp();
    await set.addMany(20);
    expect(await set.take()).toHaveLength(10);
    await set.queue.setRate('g', rate);
    expect(await set.take()).toEqual([]);
    set.passMs(100);
    expect(await set.take()).toHaveLength(count);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('without a rate all of them go', async () => {
    await using set = await setUp();
    await set.addMany(40);
    expect(await set.take()).toHaveLength(10);
    await set.queue.setRate('g', 0);
    set.passMs(100);
    expect(await set.take()).toHaveLength(30);
  });

  test('jobs without a token hold up no other group', async () => {
    await using set = await setUp();
    await set.makeSound('h');
    await set.addMany(100);
    await set.queue.add({ group: 'h', id: 'other' });
    expect((await set.take()).sort()).toEqual([...namesOf(10), 'other'].sort());
    await set.queue.add({ group: 'h', id: 'other 2' });
    expect(await set.take()).toEqual(['other 2']);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('live jobs take the tokens before those in the background, which get what is left', async () => {
    await using set = await setUp();
    await set.addMany(15, { jobClass: 'background', id: 'replayed' });
    await set.addMany(12, { id: 'live' });
    const ids = (await set.takeUntil(START + 20_000)).map(({ id }) => id.replace(/\d+$/, ''));
    expect(ids).toEqual([...Array<string>(12).fill('live'), ...Array<string>(15).fill('replayed')]);
  });

  test('an urgent job waits for no token, but takes one', async () => {
    await using set = await setUp();
    await set.addMany(20);
    expect(await set.take()).toHaveLength(10);
    await set.queue.add({ group: 'g', id: 'wished', jobClass: 'urgent' });
    expect(await set.take()).toEqual(['wished']);
    set.passMs(100);
    expect(await set.take()).toEqual([]);
    set.passMs(100);
    expect(await set.take()).toEqual(['job00010']);
  });

  test('many urgent jobs keep the others waiting for a minute at most', async () => {
    await using set = await setUp();
    await set.addMany(1_000, { jobClass: 'urgent', id: 'wished' });
    await set.addMany(1);
    expect(await set.take()).not.toContain('job00000');
    while ((await set.take()).length > 0);
    set.passMs(58_900);
    expect(await set.take()).toEqual([]);
    set.passMs(1_100);
    expect(await set.take()).toEqual(['job00000']);
  });

  test('a clock that is set back keeps no job waiting', async () => {
    await using set = await setUp();
    await set.addMany(10);
    expect(await set.take()).toHaveLength(10);
    set.passMs(-3_600_000);
    await set.queue.add({ group: 'g', id: 'later' });
    expect(await set.take()).toEqual(['later']);
  });

  test('a job that is put back, recovered or finished unsent waits in its group again', async () => {
    await using set = await setUp();
    await set.addMany(4);
    const [a, b, c, d] = await set.takeJobs();
    if (!a || !b || !c || !d) throw new Error('nothing was reserved');
    const waiting = () => set.queue.redis.zrange(set.queue.keys.waiting('g'), '0', '-1');
    await set.scripts.putBack([a]);
    await set.scripts.finish(b);
    expect((await waiting()).sort()).toEqual(['job00000', 'job00001']);
    set.passMs(20_000);
    await set.scripts.recover();
    expect((await waiting()).sort()).toEqual(['job00000', 'job00001', 'job00002', 'job00003']);
    expect(await findFaults(set.queue)).toEqual([]);
    expect(await set.queue.remove('g', 'job00000', 'job00001', 'job00002')).toHaveLength(3);
    expect(await findFaults(set.queue)).toEqual([]);
    expect(await set.queue.remove('g', 'job00003')).toEqual(['job00003']);
    expect(await findFaults(set.queue)).toEqual([]);
    const left = await set.queue.redis.keys('*');
    expect(left.filter((key) => /q:|later|ready/.test(key))).toEqual([]);
  });

  test('a reserve that is sent again brings the same jobs, and charges once', async () => {
    await using set = await setUp();
    await set.addMany(20);
    const once = { nonce: 'once', rooms: [4, 4, 4] as const };
    const first = await set.takeJobs(once);
    expect(first).toHaveLength(4);
    expect((await set.takeJobs(once)).map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
    expect(await set.take()).toHaveLength(6);
  });

  test('a job whose time comes later goes then, whatever waits behind it', async () => {
    await using set = await setUp();
    await set.queue.add({ group: 'g', id: 'retry', dueAt: START + 5_000 });
    await set.addMany(1, { jobClass: 'background' });
    expect(await set.take()).toEqual(['job00000']);
    expect(await set.takeUntil(START + 60_000)).toEqual([{ at: 5_000, id: 'retry' }]);
  });
});

describe('what shows of it', () => {
  test('jobs without a token are delayed and no sign of too few workers; those with one wait', async () => {
    await using set = await setUp();
    await set.addMany(14);
    await set.take();
    const without = await set.readState();
    expect(without).toMatchObject({ waiting: 0, active: 10, delayed: 4, groups: 1 });
    expect(without).not.toHaveProperty('oldestDueAt');
    expect(without.byHealth.flowing).toMatchObject({ groups: 1, due: 4 });
    set.passMs(100);
    expect(await set.readState()).toMatchObject({ waiting: 4, oldestDueAt: START + 100 });
  });

  test('a group tells how many of its due jobs wait for a token; not while it waits for something else', async () => {
    await using set = await setUp();
    await set.addMany(20);
    await set.queue.add({ group: 'g', id: 'later', dueAt: START + 60_000 });
    const waitingForRate = async () => (await set.groups.find('g'))?.waitingForRate;
    // The bucket is full: they wait for a worker.
    expect(await waitingForRate()).toBeUndefined();
    const [job] = await set.takeJobs();
    await set.queue.add({ group: 'g', id: 'wished', jobClass: 'urgent' });
    expect(await set.groups.find('g')).toMatchObject({ waiting: 12, due: 11, waitingForRate: 10 });
    await set.queue.end(job?.handle ?? '', { outcome: 'answered', heldUntil: START + 30_000 });
    expect(await waitingForRate()).toBeUndefined();
  });
});
