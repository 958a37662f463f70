import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue, type EndOptions, type QueueJob } from './start-queue.ts';

const START = 1_800_000_000_000;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  let added = 0;
  const set = {
    queue,
    scripts,
    now: () => now,
    passMs: (ms: number) => {
      now += ms;
    },
    add: (job: Partial<QueueJob> = {}) => queue.add({ group: 'g', id: `job${added++}`, ...job }),
    /** Adds a job, and ends it so. Returns what became of the breaker. */
    async endOne(end: EndOptions): Promise<string | undefined> {
      await set.add();
      const [job] = await scripts.reserve({ rooms: [1, 1, 1] });
      if (!job) return undefined;
      return (await queue.end(job.handle, { isProbe: job.isProbe, ...end })).change;
    },
    /** Five failures in a row; nothing waits then. */
    async open(): Promise<readonly (string | undefined)[]> {
      const changes: (string | undefined)[] = [];
      for (let count = 0; count < 5; count++) changes.push(await set.endOne({ outcome: 'unanswered' }));
      return changes;
    },
    takeIds: async () => (await scripts.reserve()).map(({ id }) => id),
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
  return set;
}

test('five failures in a row open the breaker, and an answer in between starts the count anew', async () => {
  await using set = await setUp();
  for (let count = 0; count < 4; count++) await set.endOne({ outcome: 'unanswered' });
  await set.endOne({ outcome: 'answered' });
  expect(await set.open()).toEqual(['', '', '', '', 'opened']);
});

test('an open breaker lets one probe through after 5 s, and the next when the first has failed, twice as late', async () => {
  await using set = await setUp();
  await set.open();
  await set.add();
  await set.add();
  set.passMs(4_999);
  expect(await set.scripts.reserve()).toEqual([]);
  set.passMs(1);
  const [probe, ...others] = await set.scripts.reserve();
  expect(probe).toMatchObject({ isProbe: true, ring: 2 });
  expect(others).toEqual([]);
  await set.queue.end(probe?.handle ?? '', { outcome: 'unanswered', isProbe: true, againAt: set.now() });
  set.passMs(9_999);
  expect(await set.scripts.reserve()).toEqual([]);
  set.passMs(1);
  expect(await set.scripts.reserve()).toHaveLength(1);
});

test('a probe that fails after its lease has ended moves the next ones no further away', async () => {
  await using set = await setUp();
  await set.open();
  await set.add();
  set.passMs(5_000);
  const [late] = await set.scripts.reserve();
  set.passMs(20_000);
  await set.scripts.recover();
  const [probe] = await set.scripts.reserve();
  expect(probe).toMatchObject({ isProbe: true });
  const waitOf = () => set.queue.redis.hget(set.queue.keys.group('g'), 'wait');
  expect(await set.queue.end(late?.handle ?? '', { outcome: 'unanswered', isProbe: true })).toMatchObject({
    held: false,
  });
  expect(await waitOf()).toBe('5000');
  await set.queue.end(probe?.handle ?? '', { outcome: 'unanswered', isProbe: true });
  expect(await waitOf()).toBe('10000');
});

test('jobs whose reserve was repeated after their breaker opened are no probes', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered' });
  for (let count = 0; count < 8; count++) await set.add();
  const limit = { groupLimit: 50 };
  const once = await set.scripts.reserve({ ...limit, rooms: [0, 3, 0], nonce: 'again' });
  for (const { handle } of await set.scripts.reserve({ ...limit, rooms: [0, 5, 0] }))
    await set.queue.end(handle, { outcome: 'unanswered', limit: 50 });
  expect(await set.queue.redis.hget(set.queue.keys.group('g'), 'open')).toBe('1');
  const repeated = await set.scripts.reserve({ ...limit, rooms: [0, 3, 0], nonce: 'again' });
  expect(repeated.map(({ handle }) => handle).sort()).toEqual(once.map(({ handle }) => handle).sort());
  expect(repeated.map(({ isProbe }) => isProbe)).toEqual([false, false, false]);
});

test('probes are at most five minutes apart', async () => {
  await using set = await setUp();
  await set.open();
  for (const waitMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    set.passMs(waitMs - 1);
    expect(await set.endOne({})).toBeUndefined();
    set.passMs(1);
    expect(await set.endOne({ outcome: 'unanswered', isProbe: true })).toBe('');
    await set.queue.redis.del(set.queue.keys.waiting('g'));
  }
});

test('the first answer closes the breaker, and all that waits goes', async () => {
  await using set = await setUp();
  await set.open();
  for (let count = 0; count < 3; count++) await set.add();
  set.passMs(5_000);
  const [probe] = await set.scripts.reserve();
  expect(await set.queue.end(probe?.handle ?? '', { outcome: 'answered', isProbe: true })).toEqual({
    held: true,
    change: 'closed',
  });
  expect(await set.scripts.reserve()).toMatchObject([{ ring: 1 }, { ring: 1 }]);
});

test('a prober that dies is followed by another once its lease has ended', async () => {
  await using set = await setUp();
  await set.open();
  await set.add();
  await set.add();
  set.passMs(5_000);
  expect(await set.scripts.reserve({ leaseMs: 20_000 })).toHaveLength(1);
  set.passMs(19_999);
  expect(await set.scripts.reserve()).toEqual([]);
  set.passMs(1);
  await set.scripts.recover();
  expect(await set.scripts.reserve()).toMatchObject([{ isProbe: true }]);
});

test.each(['put back', 'unsent', 'finished'] as const)(
  'a probe that is %s never went out, and another goes at once',
  async (how) => {
    await using set = await setUp();
    await set.open();
    await set.add();
    await set.add();
    set.passMs(5_000);
    const [probe] = await set.scripts.reserve();
    if (!probe) throw new Error('there is no probe');
    if (how === 'put back') await set.scripts.putBack([probe], set.now() + 60_000);
    else if (how === 'unsent') await set.queue.end(probe.handle, { outcome: 'unsent', isProbe: true });
    else await set.scripts.finish(probe);
    expect(await set.scripts.reserve()).toMatchObject([{ isProbe: true }]);
  },
);

test('what is urgent passes an open breaker as its probe, one at a time, and nothing passes with it', async () => {
  await using set = await setUp();
  await set.open();
  await set.add({ id: 'usual' });
  await set.add({ id: 'urgent', jobClass: 'urgent' });
  expect(await set.scripts.reserve()).toMatchObject([{ id: 'urgent', isProbe: true }]);
  expect(await findFaults(set.queue)).toEqual([]);
});

test('a group that is held back waits until then, except for what is urgent', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered', heldUntil: START + 60_000 });
  await set.add({ id: 'usual' });
  expect(await set.takeIds()).toEqual([]);
  await set.add({ id: 'urgent', jobClass: 'urgent' });
  expect(await set.takeIds()).toEqual(['urgent']);
  set.passMs(60_000);
  expect(await set.takeIds()).toEqual(['usual']);
});

test('a hold is waited for to the ms, also where something urgent has the group looked at', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered', heldUntil: START + 1_000 });
  await set.add({ id: 'usual' });
  set.passMs(999);
  await set.add({ id: 'urgent', jobClass: 'urgent' });
  expect(await set.takeIds()).toEqual(['urgent']);
  expect(await set.takeIds()).toEqual([]);
  set.passMs(1);
  expect(await set.takeIds()).toEqual(['usual']);
});

test('a shorter hold doesn’t end a longer one', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered', heldUntil: START + 60_000 });
  await set.add({ id: 'other', jobClass: 'urgent' });
  const [job] = await set.scripts.reserve();
  await set.queue.end(job?.handle ?? '', { outcome: 'answered', heldUntil: START + 1_000 });
  await set.add({ id: 'usual' });
  set.passMs(59_999);
  expect(await set.takeIds()).toEqual([]);
});

test('what is urgent passes a hold also when it becomes due only during the hold', async () => {
  await using set = await setUp();
  await set.endOne({ outcome: 'answered', heldUntil: START + 60_000 });
  await set.add({ id: 'usual' });
  await set.add({ id: 'urgent', jobClass: 'urgent', dueAt: START + 1_000 });
  expect(await set.scripts.reserveAll()).toMatchObject({ jobs: [], lookAgainAt: START + 1_000 });
  set.passMs(1_000);
  expect(await set.takeIds()).toEqual(['urgent']);
});

test('nothing of this holds an express group back', async () => {
  await using set = await setUp();
  for (let count = 0; count < 8; count++) {
    await set.queue.add({ group: '!e', id: `express${count}` });
    const [job] = await set.scripts.reserve();
    await set.queue.end(job?.handle ?? '', { outcome: 'unanswered', heldUntil: START + 60_000 });
  }
  for (let count = 0; count < 8; count++) await set.queue.add({ group: '!e', id: `express${count}` });
  expect(await set.scripts.reserve({ groupLimit: 1 })).toHaveLength(8);
});
