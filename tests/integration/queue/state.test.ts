import { createGroupReader, createQueueStateReader, type QueueState } from '@herald/queue';
import { createQueueScripts } from './queue-scripts.ts';
import { startQueue, type QueueJob } from './start-queue.ts';

const START = 1_800_000_000_000;

async function setUp() {
  let now = START;
  const queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  const deps = {
    prefix: queue.keys.prefix,
    defineScript: (_name: string, lua: string) => queue.scriptOn(queue.redis, lua),
    now: () => now,
  };
  const groups = createGroupReader(deps);
  return {
    queue,
    scripts,
    groups,
    readState: createQueueStateReader(deps),
    passMs: (ms: number) => {
      now += ms;
    },
    addMany: (count: number, job: Omit<QueueJob, 'id'>) =>
      queue.add(...Array.from({ length: count }, (_, index) => ({ ...job, id: `${job.group}${index}` }))),
    /** The group has answered: it is not suspect. */
    async answer(group: string): Promise<void> {
      await queue.add({ group, id: `first of ${group}` });
      const [job] = await scripts.reserve();
      await queue.end(job?.handle ?? '', { outcome: 'answered' });
    },
    /** Its breaker opens; nothing of it waits. */
    async openBreaker(group: string): Promise<void> {
      for (let failure = 0; failure < 5; failure++) {
        await queue.add({ group, id: `unanswered${failure}` });
        const [job] = await scripts.reserve();
        await queue.end(job?.handle ?? '', { outcome: 'unanswered' });
      }
    },
    async hold(group: string, heldUntil: number): Promise<void> {
      await queue.add({ group, id: `holds ${group}` });
      const [job] = await scripts.reserve();
      await queue.end(job?.handle ?? '', { outcome: 'answered', heldUntil });
    },
    [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
  };
}

const NONE = { groups: 0, due: 0 };
const AT_REST: QueueState = {
  waiting: 0,
  active: 0,
  delayed: 0,
  isPaused: false,
  groups: 0,
  groupsNotLookedAt: 0,
  byHealth: { flowing: NONE, breaker_open: NONE, paused: NONE, stopped: NONE },
};

describe('the state of a queue', () => {
  test('at rest there is nothing, before the first job and after the last', async () => {
    await using set = await setUp();
    expect(await set.readState()).toEqual(AT_REST);
    await set.answer('g');
    expect(await set.readState()).toEqual(AT_REST);
  });

  test('jobs are waiting, in work, or delayed, over all groups and classes', async () => {
    await using set = await setUp();
    await set.addMany(3, { group: 'a' });
    await set.queue.add(
      { group: 'a', id: 'urgent', jobClass: 'urgent' },
      { group: 'a', id: 'soon', dueAt: START + 60_000 },
      { group: 'a', id: 'behind', jobClass: 'background' },
      { group: 'b', id: 'later', dueAt: START + 60_000 },
      { group: '!tests', id: 'test', jobClass: 'urgent' },
    );
    expect(await set.readState()).toMatchObject({ waiting: 6, active: 0, delayed: 2, groups: 3, oldestDueAt: START });
    expect(await set.scripts.reserve({ rooms: [5, 5, 2] })).toHaveLength(3);
    expect(await set.readState()).toMatchObject({ waiting: 3, active: 3, delayed: 2, groups: 2 });
    set.passMs(60_000);
    // Three of those that wait had been reserved by a worker that died.
    expect(await set.readState()).toMatchObject({ waiting: 8, active: 0, delayed: 0 });
  });

  test('what became due while no worker lived waits since it was due', async () => {
    await using set = await setUp();
    await set.queue.add({ group: 'a', id: 'retry', dueAt: START + 5_000 });
    expect(await set.readState()).not.toHaveProperty('oldestDueAt');
    set.passMs(65_000);
    expect(await set.readState()).toMatchObject({ waiting: 1, delayed: 0, oldestDueAt: START + 5_000 });
  });

  test('what a dead worker had waits since its lease ended', async () => {
    await using set = await setUp();
    await set.queue.add({ group: 'a', id: 'job' });
    await set.scripts.reserve({ leaseMs: 20_000 });
    set.passMs(19_999);
    expect(await set.readState()).toMatchObject({ waiting: 0, active: 1 });
    set.passMs(40_000);
    expect(await set.readState()).toMatchObject({ waiting: 1, active: 0, oldestDueAt: START + 20_000 });
  });

  test('behind an open breaker all are delayed but what is urgent, then one probe waits since it may go', async () => {
    await using set = await setUp();
    await set.openBreaker('g');
    await set.addMany(4, { group: 'g' });
    const open = { flowing: NONE, breaker_open: { groups: 1, due: 4, oldestDueAt: START }, paused: NONE };
    const behind = await set.readState();
    expect(behind).toMatchObject({ waiting: 0, delayed: 4, byHealth: open });
    expect(behind).not.toHaveProperty('oldestDueAt');
    set.passMs(8_000);
    expect(await set.readState()).toMatchObject({ waiting: 1, delayed: 3, oldestDueAt: START + 5_000, byHealth: open });
    await set.scripts.reserve();
    expect(await set.readState()).toMatchObject({ waiting: 0, active: 1, delayed: 3 });
    await set.queue.add({ group: 'g', id: 'urgent', jobClass: 'urgent' });
    expect(await set.readState()).toMatchObject({ waiting: 1, active: 1, delayed: 3 });
  });

  test('jobs of a paused group are delayed, and wait for a worker only from the end of the pause', async () => {
    await using set = await setUp();
    await set.hold('g', START + 10_000);
    await set.addMany(2, { group: 'g' });
    expect(await set.readState()).toMatchObject({
      waiting: 0,
      delayed: 2,
      byHealth: { flowing: NONE, paused: { groups: 1, due: 2, oldestDueAt: START } },
    });
    set.passMs(11_000);
    expect(await set.readState()).toMatchObject({
      waiting: 2,
      delayed: 0,
      oldestDueAt: START + 10_000,
      byHealth: { flowing: { groups: 1, due: 2, oldestDueAt: START }, paused: NONE },
    });
  });

  test('jobs that wait for a slot of their group are waiting, and are no sign of too few workers', async () => {
    await using set = await setUp();
    await set.addMany(8, { group: 'g' });
    await set.scripts.reserve({ groupLimit: 3 });
    set.passMs(15_000);
    const full = await set.readState();
    expect(full).toMatchObject({ waiting: 5, active: 3, byHealth: { flowing: { due: 5, oldestDueAt: START } } });
    expect(full).not.toHaveProperty('oldestDueAt');
    // Nobody came to look at it again.
    set.passMs(60_000);
    expect(await set.readState()).toMatchObject({ waiting: 8, active: 0, oldestDueAt: START + 20_000 });
  });

  test('what is in the background waits since the last turn of its group, so that a long replay is no alarm', async () => {
    await using set = await setUp();
    await set.answer('g');
    await set.addMany(20, { group: 'g', jobClass: 'background' });
    set.passMs(600_000);
    expect(await set.readState()).toMatchObject({ waiting: 20, oldestDueAt: START });
    const [job] = await set.scripts.reserve({ rooms: [0, 1, 0] });
    await set.queue.end(job?.handle ?? '', { outcome: 'answered' });
    expect(await set.readState()).toMatchObject({ waiting: 19, oldestDueAt: START + 600_000 });
  });

  test('a pause by an operator shows, and delays nothing by itself', async () => {
    await using set = await setUp();
    await set.queue.add({ group: 'a', id: 'job' });
    await set.scripts.pause(true);
    expect(await set.readState()).toMatchObject({ isPaused: true, waiting: 1, delayed: 0 });
    await set.scripts.pause(false);
    expect(await set.readState()).toMatchObject({ isPaused: false, waiting: 1 });
  });

  test('of very many groups each that is ready counts as one waiting job at least, and no job is left out', async () => {
    await using set = await setUp();
    const jobs = Array.from({ length: 1_200 }, (_, index) => ({ group: `g${index}`, id: `job${index}` }));
    await set.queue.add(...jobs);
    await set.queue.add(...jobs.map(({ group, id }) => ({ group, id: `again ${id}`, dueAt: START + 60_000 })));
    await set.queue.add(
      ...jobs.map(({ group, id }) => ({ group: `later ${group}`, id: `later ${id}`, dueAt: START + 60_000 })),
    );
    const state = await set.readState();
    expect(state).toMatchObject({ waiting: 1_200, delayed: 2_400, groups: 2_400 });
    const { flowing } = state.byHealth;
    expect(flowing.groups + state.groupsNotLookedAt).toBe(2_400);
    expect(flowing.groups).toBeLessThan(500);
  });

  test('with ten thousand groups it looks at no more than with one thousand', async () => {
    await using set = await setUp();
    const addGroups = (from: number, to: number) =>
      set.queue.add(
        ...Array.from({ length: to - from }, (_, index) => ({
          group: `g${from + index}`,
          id: `job${from + index}`,
          dueAt: index % 2 === 0 ? START : START + 60_000,
        })),
      );
    const countCommands = async () => {
      await set.queue.redis.call('CONFIG', 'RESETSTAT');
      await set.readState();
      await set.groups.list(100);
      const stats = String(await set.queue.redis.call('INFO', 'commandstats'));
      return [...stats.matchAll(/cmdstat_(?:z\w+|hmget):calls=(\d+)/g)].reduce(
        (sum, [, calls]) => sum + Number(calls),
        0,
      );
    };
    await addGroups(0, 1_200);
    const few = await countCommands();
    await addGroups(1_200, 10_000);
    expect(await countCommands()).toBe(few);
    expect(few).toBeLessThan(3_000);
  });
});

describe('groups', () => {
  test('are listed with the most waiting jobs first, as many as wanted', async () => {
    await using set = await setUp();
    await set.addMany(2, { group: 'a', dueAt: START + 9_000 });
    await set.addMany(5, { group: 'b' });
    await set.queue.add({ group: '!tests', id: 'test', jobClass: 'urgent' });
    const all = await set.groups.list(10);
    expect(all).toMatchObject([
      { group: 'b', waiting: 5, due: 5, inWork: 0, isOpen: false, unanswered: 0, first: { id: 'b0', dueAt: START } },
      { group: 'a', waiting: 2, due: 0, first: { id: 'a0', dueAt: START + 9_000 } },
      { group: '!tests', waiting: 1, first: { id: 'test', dueAt: START } },
    ]);
    expect(await set.groups.list(2)).toEqual(all.slice(0, 2));
  });

  test('the job that goes first is one that is due, by its class, or else the one that is due soonest', async () => {
    await using set = await setUp();
    const first = async () => (await set.groups.find('g'))?.first?.id;
    await set.queue.add({ group: 'g', id: 'usual', dueAt: START + 9_000 });
    await set.queue.add({ group: 'g', id: 'background', jobClass: 'background', dueAt: START + 5_000 });
    expect(await first()).toBe('background');
    set.passMs(9_000);
    expect(await first()).toBe('usual');
    await set.queue.add({ group: 'g', id: 'urgent', jobClass: 'urgent' });
    expect(await first()).toBe('urgent');
  });

  test('an open breaker, suspicion and a pause show for as long as they last', async () => {
    await using set = await setUp();
    await set.openBreaker('g');
    await set.addMany(2, { group: 'g' });
    const open = { isOpen: true, limit: 1, unanswered: 5, nextProbeAt: START + 5_000, suspectUntil: START + 60_000 };
    expect(await set.groups.find('g')).toEqual({
      group: 'g',
      isStopped: false,
      waiting: 2,
      due: 2,
      inWork: 0,
      ...open,
      first: { id: 'g0', dueAt: START },
    });
    set.passMs(5_000);
    const [probe] = await set.scripts.reserve();
    expect(await set.groups.find('g')).toMatchObject({ waiting: 1, inWork: 1, isOpen: true });
    await set.queue.end(probe?.handle ?? '', { outcome: 'answered', isProbe: true, heldUntil: START + 20_000 });
    const paused = await set.groups.find('g');
    expect(paused).toMatchObject({ isOpen: false, unanswered: 0, heldUntil: START + 20_000 });
    expect(paused).not.toHaveProperty('nextProbeAt');
    expect(paused).not.toHaveProperty('suspectUntil');
    set.passMs(15_000);
    expect(await set.groups.find('g')).not.toHaveProperty('heldUntil');
  });

  test('one without waiting jobs is found by what is known of it, and not listed; one that never was is not found', async () => {
    await using set = await setUp();
    await set.answer('g');
    expect(await set.groups.find('g')).toEqual({
      group: 'g',
      isStopped: false,
      waiting: 0,
      due: 0,
      inWork: 0,
      isOpen: false,
      unanswered: 0,
    });
    expect(await set.groups.list(10)).toEqual([]);
    expect(await set.groups.find('h')).toBeUndefined();
  });
});
