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
