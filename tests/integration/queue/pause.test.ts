import { createGroupReader, createQueueStateReader } from '@herald/queue';
import { waitFor } from '@herald/test-kit';
import { createQueueScripts } from './queue-scripts.ts';
import { findFaults } from './read-queue.ts';
import { startQueue } from './start-queue.ts';

test('of a paused queue nothing is reserved but jobs of express groups; resumed, it goes on where it was', async () => {
  await using queue = await startQueue();
  const scripts = createQueueScripts(queue, Date.now);
  await queue.add({ group: 'g', id: 'usual' }, { group: '!x', id: 'express' });
  await scripts.pause(true);
  expect((await scripts.reserveAll()).jobs.map(({ id }) => id)).toEqual(['express']);
  await queue.add({ group: 'g', id: 'urgent', jobClass: 'urgent' });
  expect(await scripts.reserveAll()).toMatchObject({ kind: 'paused', jobs: [], left: [false, false, false, false] });
  await scripts.pause(false);
  expect((await scripts.reserveAll()).jobs.map(({ id }) => id)).toEqual(['urgent', 'usual']);
  expect(await findFaults(queue)).toEqual([]);
});

test('a worker whose queue is paused works on express jobs at once, on others once it is resumed, and closes at once', async () => {
  await using queue = await startQueue();
  const started: string[] = [];
  const backend = await queue.createBackend({ blockLimitMs: 10_000 });
  const worker = queue.startWorker(
    backend,
    async (_job, token = '') => {
      const { id, handle } = backend.reservationOf(token);
      started.push(id);
      await queue.end(handle, { outcome: 'answered' });
      backend.ended(token, 'answered');
    },
    5_000,
    10_000,
  );
  await backend.pause(true);
  await queue.add({ group: 'g', id: 'usual' });
  const waitedMs: number[] = [];
  for (const id of ['first', 'second', 'third', 'fourth']) {
    const addedAt = performance.now();
    await queue.add({ group: '!x', id });
    await waitFor(`${id} to be in work`, () => started.includes(id));
    waitedMs.push(performance.now() - addedAt);
  }
  // Unwoken, a worker looks a second after its last look: all but the first would wait for that.
  expect(Math.min(...waitedMs.slice(1))).toBeLessThan(900);
  expect(started).not.toContain('usual');
  await backend.pause(false);
  await waitFor('the other to be in work', () => started.includes('usual'));
  await backend.pause(true);
  const closedAt = performance.now();
  await worker.close();
  expect(performance.now() - closedAt).toBeLessThan(5_000);
});

test.each<{ when: string; tookMs: number; isLifted: boolean }>([
  { when: 'began after the pause was asked for', tookMs: 400, isLifted: true },
  { when: 'began before', tookMs: 600, isLifted: false },
])('a success of a job that $when lifts the pause of a group: $isLifted', async ({ tookMs, isLifted }) => {
  const START = 1_800_000_000_000;
  let now = START;
  await using queue = await startQueue(() => now);
  const scripts = createQueueScripts(queue, () => now);
  await queue.add({ group: 'g', id: 'asks' });
  const [asks] = await scripts.reserve();
  await queue.end(asks?.handle ?? '', { outcome: 'answered', heldUntil: START + 40_000 });
  await queue.add({ group: 'g', id: 'waits' }, { group: 'g', id: 'urgent', jobClass: 'urgent' });
  const urgent = await scripts.reserve();
  expect(urgent).toMatchObject([{ id: 'urgent' }]);
  now += 500;
  await queue.end(urgent[0]?.handle ?? '', { outcome: 'answered', tookMs, hasSucceeded: true });
  expect((await scripts.reserve()).map(({ id }) => id)).toEqual(isLifted ? ['waits'] : []);
  expect(await findFaults(queue)).toEqual([]);
});

describe('a group that its owner has stopped', () => {
  const START = 1_800_000_000_000;
  async function setUp() {
    let now = START;
    const queue = await startQueue(() => now);
    const deps = {
      prefix: queue.keys.prefix,
      defineScript: (_name: string, lua: string) => queue.scriptOn(queue.redis, lua),
      now: () => now,
    };
    const scripts = createQueueScripts(queue, () => now);
    return {
      queue,
      scripts,
      groups: createGroupReader(deps),
      readState: createQueueStateReader(deps),
      take: async () => (await scripts.reserve()).map(({ id }) => id),
      passMs: (ms: number) => {
        now += ms;
      },
      [Symbol.asyncDispose]: () => queue[Symbol.asyncDispose](),
    };
  }

  test('gives no job, not even an urgent one, and then all in their order', async () => {
    await using set = await setUp();
    const { queue } = set;
    await queue.add({ group: 'g', id: 'first' }, { group: 'other', id: 'elsewhere' });
    await queue.stop('g', true);
    await queue.add({ group: 'g', id: 'second' }, { group: 'g', id: 'urgent', jobClass: 'urgent' });
    expect(await set.take()).toEqual(['elsewhere']);
    expect(await set.readState()).toMatchObject({
      waiting: 0,
      delayed: 3,
      byHealth: { flowing: { groups: 0 }, stopped: { groups: 1, due: 3, oldestDueAt: START } },
    });
    expect(await set.readState()).not.toHaveProperty('oldestDueAt');
    expect(await set.groups.find('g')).toMatchObject({ isStopped: true, waiting: 3, due: 3 });
    expect(await findFaults(queue)).toEqual([]);
    await queue.stop('g', false);
    expect(await set.groups.find('g')).toMatchObject({ isStopped: false });
    expect(await set.take()).toEqual(['urgent', 'first', 'second']);
    expect(await findFaults(queue)).toEqual([]);
  });

  test('stays so when nothing waited, when what is known of it has expired, and whatever becomes of its jobs', async () => {
    await using set = await setUp();
    const { queue, scripts } = set;
    await queue.add({ group: 'g', id: 'in work' }, { group: 'g', id: 'removed' }, { group: 'g', id: 'stays' });
    const [job] = await scripts.reserve({ rooms: [0, 1, 1, 0] });
    await queue.stop('g', true);
    await queue.end(job?.handle ?? '', { outcome: 'unanswered', againAt: START });
    await queue.remove('g', 'removed');
    set.passMs(3_600_000);
    expect(await set.take()).toEqual([]);
    await queue.redis.del(queue.keys.group('g'));
    set.passMs(3_600_000);
    expect(await set.take()).toEqual([]);
    expect(await set.groups.find('g')).toMatchObject({ isStopped: true, waiting: 2 });

    await queue.stop('empty', true);
    await queue.add({ group: 'empty', id: 'later' });
    expect(await set.take()).toEqual([]);
    // The owner's signal is lost: a reserve asks again by itself.
    await queue.redis.del(`${queue.keys.prefix}stopped`);
    set.passMs(30_000);
    expect((await set.take()).sort()).toEqual(['in work', 'later', 'stays']);
    expect(await findFaults(queue)).toEqual([]);
  });
});
