import { createDeliveryClient } from '../../support/delivery-client.ts';
import { checkpoint, START } from '../../support/reports.ts';
import { startHerald, type Herald } from '../../support/start-herald.ts';

jest.setTimeout(180_000);

const DELIVERIES = 10_000;
const ARRIVING = 1_000;
const BATCH = 500;

/** Checkpoints of one Task, a batch of which is accepted in few milliseconds; returns the transitions. */
async function reportMany(herald: Herald, taskId: string, name: string, count: number, batch: number) {
  const transitions: string[] = [];
  for (let start = 0; start < count; start += batch) {
    const reports = Array.from({ length: Math.min(batch, count - start) }, (_, index) => ({
      taskId,
      ...checkpoint(`${name}${start + index}`),
    }));
    for (const result of await herald.executor.reportBatch(reports)) {
      if ('error' in result) throw new Error(`not accepted: ${result.error.code}`);
      transitions.push(result.transitionId);
    }
  }
  return transitions;
}

test('a walk over 10,000 deliveries while 1,000 new ones arrive misses none and shows none twice', async () => {
  await using herald = await startHerald({ workers: 0 });
  const workspace = await herald.createWorkspace();
  const deliveries = createDeliveryClient(workspace);
  const receiver = await workspace.registerReceiver({ url: 'https://127.0.0.1:9443/hook' });
  const tasks = await Promise.all([1, 2, 3, 4].map(() => workspace.createTask()));
  for (const { id } of tasks) await herald.executor.report(id, START);
  const before = await Promise.all(
    tasks.map(({ id }) => reportMany(herald, id, 'old', DELIVERIES / tasks.length, BATCH)),
  );

  let isWalking = true;
  const arriving = reportMany(herald, tasks[0]?.id ?? '', 'new', ARRIVING, 20).then((transitions) => ({
    transitions,
    arrivedDuringWalk: isWalking,
  }));
  const seen: { transitionId: string; createdAt: string; id: string }[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page = await deliveries.list(receiver, { limit: '100', ...(cursor !== '' && { cursor }) });
    seen.push(...page.deliveries);
    cursor = page.nextCursor;
  }
  isWalking = false;
  const { transitions: arrived, arrivedDuringWalk } = await arriving;

  const counts = new Map<string, number>();
  for (const { transitionId } of seen) counts.set(transitionId, (counts.get(transitionId) ?? 0) + 1);
  expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
  expect(before.flat().filter((id) => !counts.has(id))).toEqual([]);
  const known = new Set([...before.flat(), ...arrived]);
  expect(known.size).toBe(DELIVERIES + ARRIVING);
  expect(seen.filter(({ transitionId }) => !known.has(transitionId))).toEqual([]);
  expect(pages).toBeGreaterThanOrEqual(DELIVERIES / 100);
  // The walk is only worth something when cursors fell within one millisecond, and new ones came meanwhile.
  const perMillisecond = Map.groupBy(seen, ({ createdAt }) => createdAt);
  expect(Math.max(...[...perMillisecond.values()].map(({ length }) => length))).toBeGreaterThan(100);
  expect(arrivedDuringWalk).toBe(true);
  const newestFirst = seen.toSorted((a, b) => (`${a.createdAt}${a.id}` < `${b.createdAt}${b.id}` ? 1 : -1));
  expect(seen.map(({ id }) => id)).toEqual(newestFirst.map(({ id }) => id));
});
