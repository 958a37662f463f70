import { waitFor } from '@herald/test-kit';
import type { DeliveryPage } from '../../support/delivery-client.ts';
import { scrape } from '../../support/metrics.ts';
import { problemOf } from '../../support/problems.ts';
import type { HeraldProcess } from '../../support/start-herald-process.ts';
import { startHistory } from '../../support/start-history.ts';
import { latenessAt } from '../fleet/fleet.ts';
import { canMount, mountSmallDisk, pretendSmallDisk } from './small-disk.ts';
import { startScene, type Scene } from './start-scene.ts';

jest.setTimeout(90_000);

const TASKS = 10;
const COUNT = 2 * TASKS;
/** One way to a slow PostgreSQL, in ms. Whatever waits for it takes longer. */
const DELAY_MS = 500;
/** Who reads waits a second for PostgreSQL; the rest is for a busy machine, in ms. */
const READ_LIMIT_MS = 4_000;

async function readWarning({ origin }: HeraldProcess): Promise<string | undefined> {
  // Its way to Redis leads through this process: when that stands still, the worker isn't ready for a moment.
  const { warnings } = await waitFor('a worker that is ready', async () => {
    const answer = await fetch(new URL('/readyz', origin));
    const body = (await answer.json()) as { warnings: { code: string; sentence: string }[] };
    return answer.status === 200 && body;
  });
  return warnings.find(({ code }) => code === 'history_away')?.sentence;
}

async function readGauges({ origin }: HeraldProcess) {
  const metrics = await scrape(origin);
  const sum = (name: string) => metrics.sum(`herald_history_${name}`);
  const isOverdue = sum('oldest_waiting_seconds') > sum('retention_seconds');
  expect(sum('retention_seconds')).toBeGreaterThan(0);
  return { up: sum('up'), waiting: sum('waiting_deliveries'), isOverdue };
}

/** Deliveries go on at their speed. */
async function deliverInTime({ deliver, receiver }: Scene): Promise<void> {
  const former = receiver.requests.length;
  // One after the other: a moment in which nothing runs delays one or two of them, not all.
  for (let task = 0; task < TASKS; task++) await deliver(1);
  const lateness = latenessAt({ requests: receiver.requests.slice(former) });
  expect(lateness).toHaveLength(COUNT);
  expect(lateness[COUNT / 2]).toBeLessThan(DELAY_MS);
}

/** Also of all that was delivered: it is in PostgreSQL once, and shown once. */
async function expectCaughtUp(scene: Scene, rows: number): Promise<void> {
  await scene.waitUntilMoved(30_000);
  await expect(scene.countRows()).resolves.toBe(rows);
  await scene.expectEachOnce();
  await scene.expectReadable(TASKS);
  await waitFor('no warning any more', async () => (await readWarning(scene.worker)) === undefined);
}

const FULL = [
  { what: 'whose disk is full', prepare: mountSmallDisk, isPossible: canMount() },
  { what: 'that says that its disk is full', prepare: pretendSmallDisk, isPossible: true },
];
// One at a time: each looks at how fast deliveries go, and four services that start at once are slow.
test.each(FULL.filter(({ isPossible }) => isPossible))(
  'a PostgreSQL $what holds up no delivery, and everything moves once it has room',
  async ({ prepare }) => {
    await using history = await startHistory();
    using disk = await prepare(history);
    await using scene = await startScene({ history });
    const { worker, herald } = scene;
    // Days are made ahead, while there is room for them.
    const countDays = 'SELECT count(*) AS days FROM pg_inherits';
    await waitFor('the days', async () => Number((await history.rows(countDays))[0]?.days) >= 8);
    await disk.fill();
    await deliverInTime(scene);
    await expect(waitFor('a warning', () => readWarning(worker))).resolves.toMatch(/ since 2\d{3}-.*Z: 20 settled/);
    await expect(readGauges(worker)).resolves.toEqual({ up: 0, waiting: COUNT, isOverdue: true });
    expect(worker.process.output()).toMatch(/No space left on device.*"history\.unavailable"/);
    await expect(scene.countRows()).resolves.toBe(0);
    await scene.expectEachOnce();

    await disk.clear();
    await expectCaughtUp(scene, COUNT);
    expect(herald.logs()).toContain('history.recovered');
  },
);

test('a slow PostgreSQL slows down nothing but the moving, also that of two workers', async () => {
  await using scene = await startScene();
  const { toPostgres, worker, startWorker, herald } = scene;
  toPostgres.delay(DELAY_MS);
  await startWorker();
  await deliverInTime(scene);
  await expect(readGauges(worker)).resolves.toEqual({ up: 1, waiting: COUNT, isOverdue: true });
  await expectCaughtUp(scene, COUNT);
  expect(herald.logs()).not.toContain('history.unavailable');
});

test('a PostgreSQL that falls silent holds up no delivery, no reader and no end of a worker', async () => {
  await using scene = await startScene({ isApiGated: true, env: { DELIVERY_TIMEOUT: '3s' } });
  const { toPostgres, workspace, receiverId, herald } = scene;
  await scene.deliver(TASKS);
  await scene.waitUntilMoved();
  const [moved] = (await scene.client.list({ id: receiverId }, { limit: '1' })).deliveries;
  if (!moved?.taskId) throw new Error('something has moved');
  const second = await herald.startWorker({ HISTORY_URL: scene.gatedUrl });

  toPostgres.delay(Infinity);
  await deliverInTime(scene);
  const reads = [
    ...[`/api/public/deliveries/${moved.id}`, `/tasks/${moved.taskId}/deliveries`],
    // Three pages of a workspace are read at a time.
    ...Array.from({ length: 6 }, () => `/api/public/webhooks/${receiverId}/deliveries?limit=20`),
  ];
  const answers = await Promise.all(reads.map((path) => workspace.request('GET', path)));
  expect(Math.max(...answers.map(({ durationMs }) => durationMs))).toBeLessThan(READ_LIMIT_MS);
  const [alone, ofTask, ...pages] = answers;
  for (const answer of [alone, ofTask]) {
    expect(answer && problemOf(answer)).toMatchObject({ status: 503, code: 'history_unavailable' });
  }
  for (const { status, body } of pages) {
    expect(status).toBe(200);
    expect(body).toMatchObject({ historyUnavailable: true });
    expect((body as DeliveryPage).deliveries).toHaveLength(TASKS);
  }
  await expect(readGauges(second)).resolves.toMatchObject({ waiting: COUNT, isOverdue: true });
  await expect(second.stop()).resolves.toEqual({ code: 0, signal: null });
  // A statement may take 20 s.
  await expect(waitFor('a warning', () => readWarning(scene.worker), 30_000)).resolves.toContain(`${COUNT} settled`);
  await expect(readGauges(scene.worker)).resolves.toEqual({ up: 0, waiting: COUNT, isOverdue: true });

  toPostgres.delay(0);
  await expectCaughtUp(scene, 2 * COUNT);
});
