import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type EndOptions } from './start-queue.ts';
import type { Reserved } from '../../../packages/queue/src/worker/reserve.ts';

const START = 1_800_000_000_000;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  let added = 0;
  const add = (count = 1) => queue.add(...Array.from({ length: count }, () => ({ group: 'g', id: `job${added++}` })));
  return {
    queue,
    scripts,
    add,
    passMs: (ms: number) => {
      now += ms;
    },
    /** Adds a job, ends it so, and returns the ring from which it came. */
    async endOne(options: EndOptions): Promise<number | undefined> {
      await add();
      const [job] = await scripts.reserve();
      if (job) await queue.end(job.handle, options);
      return job?.ring;
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

test('a group is suspect until its first answer', async () => {
  await using set = await setUp();
  expect(await set.endOne({ outcome: 'unsent' })).toBe(2);
  expect(await set.endOne({ outcome: 'answered' })).toBe(2);
  expect(await set.endOne({})).toBe(1);
});

test('a failure makes a group suspect for a minute, unless an answer comes first', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  await set.endOne({ outcome: 'unanswered' });
  set.passMs(59_999);
  expect(await set.endOne({})).toBe(2);
  set.passMs(1);
  expect(await set.endOne({ outcome: 'unanswered' })).toBe(1);
  expect(await set.endOne({ outcome: 'answered' })).toBe(2);
  expect(await set.endOne({})).toBe(1);
});

test('what waits moves to the other ring together with its group', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  await set.add(3);
  const [job] = await set.scripts.reserve({ rooms: [0, 1, 0] });
  await set.queue.end(job?.handle ?? '', { outcome: 'unanswered' });
  expect(await set.scripts.reserveAll({ rooms: [0, 5, 0] })).toMatchObject({
    jobs: [],
    left: [false, false, true, false],
  });
  const [other] = await set.scripts.reserve({ rooms: [0, 0, 1] });
  await set.queue.end(other?.handle ?? '', { outcome: 'answered' });
  expect(await set.scripts.reserve({ rooms: [0, 1, 0] })).toHaveLength(1);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('suspects that find no room stay ready for a worker that has some', async () => {
  await using set = await setUp();
  await set.add(3);
  expect(await set.scripts.reserveAll({ rooms: [5, 5, 0] })).toMatchObject({
    jobs: [],
    left: [false, false, true, false],
  });
  expect(await set.queue.redis.exists(set.queue.keys.wake(2))).toBe(1);
  expect(await set.scripts.reserve({ rooms: [0, 0, 5] })).toHaveLength(3);
});

test('a group that keeps a worker waiting is suspect for ten seconds, or until it answers', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  await set.add(4);
  const [waitsLong] = await set.scripts.reserve({ rooms: [0, 1, 0] });
  expect(await set.scripts.reserve({ rooms: [0, 5, 0], suspects: ['g'] })).toEqual([]);
  expect(await set.scripts.reserve({ rooms: [0, 0, 1] })).toHaveLength(1);
  await set.queue.end(waitsLong?.handle ?? '', { outcome: 'answered' });
  expect(await set.scripts.reserve({ rooms: [0, 1, 0] })).toHaveLength(1);
  await set.scripts.reserve({ rooms: [0, 0, 0], suspects: ['g'] });
  set.passMs(10_000);
  expect(await set.scripts.reserveAll()).toMatchObject({ jobs: [], left: [false, true, false, false] });
  expect(await set.scripts.reserve()).toMatchObject([{ ring: 1 }]);
});

test('a group that is full only while it is suspect goes on when that ends, though nothing of it has ended', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  await set.add(20);
  expect(await set.scripts.reserve({ rooms: [0, 12, 0], groupLimit: 50 })).toHaveLength(12);
  expect(await set.scripts.reserve({ suspects: ['g'], groupLimit: 50 })).toEqual([]);
  set.passMs(10_000);
  expect(await set.scripts.reserve({ groupLimit: 50 })).not.toEqual([]);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a worker that is kept waiting says so at every reserve, and that is written twice in ten seconds', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  const suspectUntil: (string | null)[] = [];
  for (let at = 0; at < 10_000; at += 500) {
    await set.scripts.reserve({ suspects: ['g'] });
    suspectUntil.push(await set.queue.redis.hget(set.queue.keys.group('g'), 'sus'));
    set.passMs(500);
  }
  expect([...new Set(suspectUntil)]).toEqual([String(START + 10_000), String(START + 15_500)]);
});

test.each<{ when: string; end: EndOptions | undefined }>([
  { when: 'the last job of it is reserved', end: undefined },
  { when: 'a job of it has ended', end: { outcome: 'answered' } },
  { when: 'a job of it has got no answer', end: { outcome: 'unanswered' } },
])('what was known of a group and has expired is known for two days again when $when', async ({ end }) => {
  await using set = await setUp();
  await set.add();
  const { redis, keys } = set.queue;
  await redis.del(keys.group('g'));
  const [job] = await set.scripts.reserve();
  if (end) {
    await redis.del(keys.group('g'));
    await set.queue.end(job?.handle ?? '', end);
  }
  expect(await redis.pttl(keys.group('g'))).toBeGreaterThan(170_000_000);
});

/** Adds three jobs to each of so many groups of a tenant, which have answered before; `took` when they are slow. */
async function addTo(
  set: Awaited<ReturnType<typeof setUp>>,
  tenant: string,
  groups: number,
  known?: { took?: number },
) {
  const { queue } = set;
  if (known)
    for (let group = 0; group < groups; group++)
      await queue.redis.hset(queue.keys.group(`${tenant}.${group}`), { ok: 1, ...known });
  const jobs = Array.from({ length: groups * 3 }, (_, index) => {
    const group = `${tenant}.${index % groups}`;
    return { group, tenant, id: `${group}.${index}` };
  });
  await queue.add(...jobs);
}

test.each([
  { ring: 2, name: 'suspect', known: undefined },
  { ring: 3, name: 'slow', known: { took: 4_000 } },
])(
  'room that is kept for others in the $name ring goes to one job of each tenant that has few, however many groups the others have',
  async ({ ring, known }) => {
    await using set = await setUp();
    const in1 = <T>(value: T, others: T): T[] => [0, 1, 2, 3].map((each) => (each === ring ? value : others));
    await addTo(set, 'hanging', 60, known);
    const taken = await set.scripts.reserve({ rooms: in1(10, 0) });
    expect(new Set(taken.map(({ tenant }) => tenant))).toEqual(new Set(['hanging']));
    await addTo(set, 'one', 4, known);
    await addTo(set, 'two', 1, known);
    const kept = await set.scripts.reserveAll({ rooms: in1(10, 0), withoutRoom: in1(['hanging'], []) });
    expect(kept.jobs.map(({ tenant }) => tenant)).toEqual(['one', 'two']);
    expect(kept.left).toEqual(in1(true, false));
    const all = in1(['hanging', 'one', 'two'], []);
    expect(await set.scripts.reserve({ rooms: in1(10, 0), withoutRoom: all })).toEqual([]);
    // Whoever has room takes all of them, each once.
    const rest = await set.scripts.reserve({ rooms: in1(1_000, 0), groupLimit: 10 });
    expect(new Set([...taken, ...kept.jobs, ...rest].map(({ id }) => id)).size).toBe(65 * 3);
    expect(await findFaults(set.queue)).toEqual([]);
  },
);

test('quick groups of a tenant without room count as suspect, so that those of others take their turns at once', async () => {
  await using set = await setUp();
  await addTo(set, 'hanging', 150, {});
  await addTo(set, 'one', 2, {});
  const withoutRoom = [[], ['hanging'], [], []];
  const jobs: Reserved[] = [];
  // A reserve moves a hundred groups at most.
  for (let turn = 0; turn < 4; turn++) jobs.push(...(await set.scripts.reserve({ rooms: [0, 10], withoutRoom })));
  expect(jobs.map(({ tenant, ring }) => [tenant, ring])).toEqual(new Array(6).fill(['one', 1]));
  const { redis, keys } = set.queue;
  expect([await redis.zcard(keys.ready(1)), await redis.zcard(keys.ready(2))]).toEqual([0, 150]);
  expect(await findFaults(set.queue)).toEqual([]);
  const [answers] = await set.scripts.reserve({ rooms: [0, 0, 1] });
  await set.queue.end(answers?.handle ?? '', { outcome: 'answered' });
  expect(await set.scripts.reserve({ rooms: [0, 10] })).toMatchObject([{ group: answers?.group }, {}]);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('while many quick groups keep a worker waiting, each gives one job a turn', async () => {
  await using set = await setUp();
  await addTo(set, 'one', 4, {});
  const groups = async (isCautious: boolean) =>
    (await set.scripts.reserve({ rooms: [0, 4], isCautious })).map(({ group }) => group);
  expect(new Set(await groups(true)).size).toBe(4);
  expect(new Set(await groups(false)).size).toBe(2);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a group without a tenant counts as one of the tenant that has no name', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  await set.add(2);
  await addTo(set, 'one', 1, {});
  const jobs = await set.scripts.reserve({ rooms: [0, 10], withoutRoom: [[], ['']] });
  expect(jobs.map(({ tenant }) => tenant)).toEqual(['one', 'one', 'one']);
  expect(await set.scripts.reserve({ rooms: [0, 0, 10] })).toMatchObject([{ tenant: '' }, { tenant: '' }]);
});
