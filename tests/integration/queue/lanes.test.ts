import { createGroupReader, createQueueStateReader, groupOfLane, laneOf } from '@herald/queue';
import { createQueueScripts, type ReserveOptions } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type QueueJob } from './start-queue.ts';

const START = 1_800_000_000_000;
const LANE = laneOf('g', 10, 'wh_1');
const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `job${String(index).padStart(5, '0')}`);
const ROOMY: ReserveOptions = { rooms: [100, 100, 100], groupLimit: 10_000 };

async function setUp() {
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
          group: LANE,
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

describe('the rate of a lane', () => {
  test('a lane of 10/s gives 10 at once and then one every 100 ms', async () => {
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
    await using set = await setUp();
    const count = 3 * rate;
    await set.addMany(count, { group: laneOf('g', rate, 'wh_1') });
    const taken = await set.takeUntil(START + 10_000);
    expect(taken).toHaveLength(count);
    expect(taken.filter(({ at }) => at === 0)).toHaveLength(rate);
    const ms = (taken.at(-1)?.at ?? 0) / 2;
    expect(ms).toBeGreaterThanOrEqual(999);
    expect(ms).toBeLessThanOrEqual(1_010);
    // It wakes a worker 50 times a second at most.
    expect(new Set(taken.map(({ at }) => at)).size).toBeLessThanOrEqual(1 + 2 * Math.min(rate, 50));
  });

  test('a bucket that nobody uses fills up to one second, and then leaves Redis', async () => {
    await using set = await setUp();
    await set.addMany(12);
    expect(await set.take()).toHaveLength(10);
    const bucket = set.queue.keys.bucket('g', 'wh_1');
    const ttl = await set.queue.redis.pttl(bucket);
    expect(ttl).toBeGreaterThan(1_000);
    expect(ttl).toBeLessThanOrEqual(11_000);
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

  test('a changed rate keeps what the bucket has spent', async () => {
    await using set = await setUp();
    await set.addMany(10);
    expect(await set.take()).toHaveLength(10);
    await set.addMany(20, { group: laneOf('g', 100, 'wh_1') }, 100);
    expect(await set.take()).toEqual([]);
    set.passMs(100);
    expect(await set.take()).toHaveLength(10);
  });
});

describe('a lane in its group', () => {
  test('jobs without a token hold up neither the group’s other jobs nor its other lanes', async () => {
    await using set = await setUp();
    const other = laneOf('g', 10, 'wh_2');
    await set.addMany(100);
    await set.queue.add({ group: 'g', id: 'plain' }, { group: other, id: 'of another lane' });
    expect((await set.take()).sort()).toEqual([...namesOf(10), 'plain', 'of another lane'].sort());
    await set.queue.add({ group: 'g', id: 'plain 2' }, { group: other, id: 'of another lane 2' });
    expect((await set.take()).sort()).toEqual(['of another lane 2', 'plain 2']);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('when it has a token again, its jobs go by their age: a backlog of the group’s other jobs doesn’t starve them', async () => {
    await using set = await setUp();
    await set.addMany(30);
    await set.addMany(10_000, { group: 'g', id: 'plain' });
    expect(await set.takeUntil(START)).toHaveLength(10_010);
    set.passMs(1);
    await set.addMany(1_000, { group: 'g', id: 'plain' }, 20_000);
    set.passMs(499);
    const next = await set.take({ rooms: [10, 10, 10] });
    // One in each turn of the group.
    expect(next.filter((id) => id.startsWith('job'))).toHaveLength(3);
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
    await set.queue.add({ group: LANE, id: 'wished', jobClass: 'urgent' });
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

  test('a group that loses its last marker as jobs are added stands nowhere', async () => {
    await using set = await setUp();
    await set.addMany(1);
    // As a lane of the same name with another rate does.
    await set.queue.redis.set(set.queue.keys.bucket('g', 'wh_1'), set.now() + 1_000);
    await set.addMany(1, {}, 1);
    expect(await findFaults(set.queue)).toEqual([]);
    expect(await set.takeUntil(START + 1_000)).toHaveLength(2);
  });

  test('a clock that is set back keeps no job waiting', async () => {
    await using set = await setUp();
    await set.addMany(10);
    expect(await set.take()).toHaveLength(10);
    set.passMs(-3_600_000);
    await set.queue.add({ group: LANE, id: 'later' });
    expect(await set.take()).toEqual(['later']);
  });

  test('its jobs count for the group’s limit, and open and close its breaker', async () => {
    await using set = await setUp();
    await set.addMany(8);
    await set.addMany(8, { group: 'g', id: 'plain' });
    const taken = await set.takeJobs({ groupLimit: 5 });
    expect(taken).toHaveLength(5);
    expect(new Set(taken.map(({ group }) => group))).toEqual(new Set(['g']));
    for (const { handle } of taken) await set.queue.end(handle, { outcome: 'unanswered' });
    expect(await set.take()).toEqual([]);
    set.passMs(5_000);
    const [probe, ...more] = await set.takeJobs();
    expect(probe).toMatchObject({ isProbe: true, ring: 2 });
    expect(more).toEqual([]);
    await set.queue.end(probe?.handle ?? '', { outcome: 'answered', isProbe: true });
    // Failures lowered the group's limit to one, and the answer raised it.
    expect(await set.take()).toHaveLength(2);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('a probe that finds no token is none, and the next job is', async () => {
    await using set = await setUp();
    await set.addMany(5, { jobClass: 'urgent', id: 'wished' });
    for (const { handle } of await set.takeJobs()) await set.queue.end(handle, { outcome: 'unanswered' });
    await set.addMany(1);
    // As if the clock of the worker that saw the token had been ahead.
    await set.queue.redis.set(set.queue.keys.bucket('g', 'wh_1'), set.now() + 100_000);
    set.passMs(10_000);
    expect(await set.take()).toEqual([]);
    await set.queue.add({ group: 'g', id: 'plain' });
    expect(await set.takeJobs()).toMatchObject([{ id: 'plain', isProbe: true }]);
  });

  test('a job that is put back, recovered or finished unsent waits in its lane again, and no marker is left', async () => {
    await using set = await setUp();
    await set.addMany(4);
    const [a, b, c, d] = await set.takeJobs();
    if (!a || !b || !c || !d) throw new Error('nothing was reserved');
    const waiting = () => set.queue.redis.zrange(set.queue.keys.waiting(LANE), '0', '-1');
    await set.scripts.putBack([a]);
    await set.scripts.finish(b);
    expect((await waiting()).sort()).toEqual(['job00000', 'job00001']);
    set.passMs(20_000);
    await set.scripts.recover();
    expect((await waiting()).sort()).toEqual(['job00000', 'job00001', 'job00002', 'job00003']);
    expect(await findFaults(set.queue)).toEqual([]);
    expect(await set.queue.remove(LANE, 'job00000', 'job00001', 'job00002')).toHaveLength(3);
    expect(await findFaults(set.queue)).toEqual([]);
    expect(await set.queue.remove(LANE, 'job00003')).toEqual(['job00003']);
    expect(await findFaults(set.queue)).toEqual([]);
    const left = await set.queue.redis.keys('*');
    expect(left.filter((key) => /q:|later|lanes|ready/.test(key))).toEqual([]);
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
    await set.queue.add({ group: LANE, id: 'retry', dueAt: START + 5_000 });
    await set.addMany(1, { jobClass: 'background' });
    expect(await set.take()).toEqual(['job00000']);
    expect(await set.takeUntil(START + 60_000)).toEqual([{ at: 5_000, id: 'retry' }]);
  });

  test('names that would break markers or lanes are refused, and nothing of the call is added', async () => {
    await using set = await setUp();
    const wrongGroup = set.queue.add({ group: 'h', id: 'a' }, { group: 'h~x', id: 'b' });
    await expect(wrongGroup).rejects.toThrow('the name of a group must not have a "~", except as a lane: h~x');
    const wrongId = set.queue.add({ group: 'h', id: 'a' }, { group: 'h', id: '~1' });
    await expect(wrongId).rejects.toThrow('the id of a job must not begin with a "~": ~1');
    expect(await set.queue.redis.exists(set.queue.keys.waiting('h'))).toBe(0);
  });
});

describe('beside processes of the former version, which know no lanes', () => {
  test('a marker that one took for a job is put back by the next recovery', async () => {
    await using set = await setUp();
    await set.addMany(3);
    await set.queue.redis.zpopmin(set.queue.keys.waiting('g'));
    await set.queue.redis.zrem(set.queue.keys.ready(1), 'g');
    await set.queue.redis.hdel(set.queue.keys.group('g'), 'p');
    expect(await set.take()).toEqual([]);
    await set.scripts.recover();
    expect(await set.take()).toHaveLength(3);
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('recoveries look at all lanes, however many', async () => {
    await using set = await setUp();
    const lanes = Array.from({ length: 120 }, (_, index) => laneOf('g', 10, `wh_${index}`));
    await set.queue.add(...lanes.map((group, index) => ({ group, id: `job${index}` })));
    await set.queue.redis.del(set.queue.keys.waiting('g'));
    for (let run = 0; run < 3; run++) await set.scripts.recover();
    expect(await findFaults(set.queue)).toEqual([]);
  });

  test('a lane that one has put into a ring as a group moves to its group', async () => {
    await using set = await setUp();
    const { redis, keys } = set.queue;
    await redis.zadd(keys.waiting(LANE), 1e13 + START, 'job00000');
    await redis.zadd(keys.ready(2), START, LANE);
    await redis.hset(keys.group(LANE), 'p', '2');
    await redis.hset(keys.settings, 'n', '1');
    expect(await set.scripts.reserveAll(ROOMY)).toMatchObject({ jobs: [], left: [false, true, false, false] });
    expect(await set.takeJobs()).toMatchObject([{ id: 'job00000', group: 'g', ring: 1 }]);
    expect(await redis.hget(keys.group(LANE), 'p')).toBeNull();
    expect(await findFaults(set.queue)).toEqual([]);
  });
});

describe('what shows of a lane', () => {
  test('jobs without a token are delayed and no sign of too few workers; those with one wait', async () => {
    await using set = await setUp();
    await set.addMany(14);
    await set.queue.add({ group: 'g', id: 'plain' });
    expect(await set.readState()).toMatchObject({ waiting: 11, delayed: 4, groups: 1, oldestDueAt: START });
    await set.take();
    const without = await set.readState();
    expect(without).toMatchObject({ waiting: 0, active: 11, delayed: 4, groups: 1 });
    expect(without).not.toHaveProperty('oldestDueAt');
    expect(without.byHealth.flowing).toEqual({ groups: 1, due: 4 });
    set.passMs(200);
    expect(await set.readState()).toMatchObject({ waiting: 2, delayed: 2, oldestDueAt: START + 100 });
  });

  test('a group counts the jobs of its lanes and no markers, and shows the one that goes first', async () => {
    await using set = await setUp();
    await set.addMany(12);
    await set.queue.add(
      { group: 'g', id: 'replayed', jobClass: 'background' },
      { group: laneOf('g', 5, 'wh_2'), id: 'soon', dueAt: START + 50 },
    );
    const seen = { waiting: 14, due: 13, first: { id: 'job00000', dueAt: START } };
    expect(await set.groups.list(10)).toMatchObject([{ group: 'g', ...seen }]);
    await set.take();
    expect(await set.groups.find('g')).toMatchObject({ waiting: 3, due: 2, inWork: 11, first: { id: 'soon' } });
    expect(await set.groups.list(10)).toMatchObject([{ group: 'g', waiting: 3 }]);
    set.passMs(100);
    expect(await set.groups.find('g')).toMatchObject({ due: 3, first: { id: 'soon', dueAt: START + 50 } });
  });

  test('a lane tells how many of its due jobs wait for a token; not while its group waits for something else', async () => {
    await using set = await setUp();
    await set.addMany(20);
    await set.queue.add({ group: LANE, id: 'later', dueAt: START + 60_000 });
    const waitingForRate = async () => (await set.groups.find(LANE))?.waitingForRate;
    // The bucket is full: they wait for a worker.
    expect(await waitingForRate()).toBeUndefined();
    const [job] = await set.takeJobs();
    expect(await set.groups.find(LANE)).toMatchObject({ group: 'g', waiting: 11, due: 10, waitingForRate: 10 });
    set.passMs(200);
    expect(await waitingForRate()).toBe(8);
    expect((await set.groups.find('g'))?.waitingForRate).toBeUndefined();
    expect((await set.groups.find(laneOf('g', 10, 'wh_2')))?.waitingForRate).toBeUndefined();
    await set.queue.end(job?.handle ?? '', { outcome: 'answered', heldUntil: START + 30_000 });
    expect(await waitingForRate()).toBeUndefined();
  });

  test('the group of a lane is the part before its rate', () => {
    expect([groupOfLane(LANE), groupOfLane('g'), groupOfLane('')]).toEqual(['g', 'g', '']);
  });
});
