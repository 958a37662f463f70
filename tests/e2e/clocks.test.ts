import { waitFor } from '@herald/test-kit';
import { createFakeClock } from '../support/fake-clock.ts';
import { scrape } from '../support/metrics.ts';
import { checkpoint, START } from '../support/reports.ts';
import { runBuiltCli } from '../support/run-cli.ts';
import { sized } from '../support/sized.ts';
import type { HeraldProcess } from '../support/start-herald-process.ts';
import { startHerald } from '../support/start-herald.ts';
import { webhooksAt } from '../support/webhooks.ts';

const HOUR_MS = 3_600_000;

type Ready = { status: string; warnings: { code: string; sentence: string }[] };
const readinessOf = async ({ origin }: HeraldProcess) => (await (await fetch(`${origin}/readyz`)).json()) as Ready;

/** Nothing is to be said about it. */
const GOOD_REDIS = { appendonly: true, args: ['--maxmemory', '256mb'] };

async function startScene(apiAheadMs: number, workerAheadMs: number, retrySchedule = '2s,2s') {
  await using cleanUp = new AsyncDisposableStack();
  const clocks = {
    api: cleanUp.use(await createFakeClock(apiAheadMs)),
    worker: cleanUp.use(await createFakeClock(workerAheadMs)),
  };
  const herald = cleanUp.use(
    await startHerald({ apis: 0, workers: 0, redis: GOOD_REDIS, env: { RETRY_SCHEDULE: retrySchedule } }),
  );
  const api = await herald.startApi(clocks.api.env);
  const worker = await herald.startWorker(clocks.worker.env);
  const workspace = await herald.createWorkspace();
  const stack = cleanUp.move();
  return { herald, clocks, api, worker, workspace, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

type Wrong = readonly [what: string, apiAheadMs: number, workerAheadMs: number];
const BOTH_WRONG: readonly Wrong[] = [
  ['an API an hour ahead, a worker an hour behind', HOUR_MS, -HOUR_MS],
  ['an API an hour behind, a worker an hour ahead', -HOUR_MS, HOUR_MS],
];
const ONE_WRONG: readonly Wrong[] = [
  ['an API an hour ahead', HOUR_MS, 0],
  ['an API an hour behind', -HOUR_MS, 0],
  ['a worker an hour ahead', 0, HOUR_MS],
  ['a worker an hour behind', 0, -HOUR_MS],
];
// What one that is wrong breaks, two that are wrong in opposite ways break as well.
describe.each(sized(BOTH_WRONG, [...ONE_WRONG, ...BOTH_WRONG]))('with %s', (_, apiAheadMs, workerAheadMs) => {
  test('first attempts go out at once, retries when they are due, and what is signed has the right time', async () => {
    await using scene = await startScene(apiAheadMs, workerAheadMs);
    const { herald, workspace } = scene;
    const receiver = await herald.startReceiver([503, 500, 200]);
    const { id } = await workspace.registerReceiver({ url: receiver.url });
    // Not the first delivery of a process, which takes longer.
    expect(await workspace.sendTest(id)).toMatchObject({ status: 200, body: { receiverStatus: 503 } });
    const task = await workspace.createTask();
    const acceptedAt = Date.now();
    await workspace.closeTask(task.id);
    await receiver.waitForCount(3, 20_000);
    await herald.settled();

    const [, first, second] = receiver.requests.map(({ receivedAt }) => receivedAt);
    expect((first ?? 0) - acceptedAt).toBeLessThan(3_000);
    // 2 s, a fifth more or less.
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(1_500);
    expect((second ?? 0) - (first ?? 0)).toBeLessThan(5_500);
    for (const { headers, receivedAt } of receiver.requests)
      expect(Math.abs(Number(headers['webhook-timestamp']) * 1_000 - receivedAt)).toBeLessThan(4_000);
    const created = webhooksAt(receiver).map(({ body }) => Date.parse(body.created_at));
    expect(Math.max(...created.map((at) => Math.abs(at - acceptedAt)))).toBeLessThan(8_000);
  }, 60_000);
});

test('a wrong clock is told by its process and by doctor, and by no other', async () => {
  await using scene = await startScene(0, -3_200);
  const { herald, api, worker } = scene;
  const told = expect.objectContaining({
    code: 'clock_off',
    sentence: expect.stringMatching(/^this machine's clock is 3\.[0-4] s behind Redis' time/) as string,
  }) as object;
  expect(await readinessOf(worker)).toMatchObject({ status: 'ok', warnings: [told] });
  expect(await readinessOf(api)).toMatchObject({ status: 'ok', warnings: [] });
  await herald.waitForLog('"clock.off"', worker);
  expect(herald.logs().split('"clock.off"')).toHaveLength(2);
  expect((await scrape(worker.origin)).sum('herald_clock_skew_seconds')).toBeCloseTo(-3.2, 0);
  const { stdout } = await runBuiltCli(['doctor'], { REDIS_URL: herald.server.url, ...scene.clocks.worker.env });
  expect(stdout).toMatch(/this machine's clock is 3\.[0-4] s behind Redis' time/);
}, 60_000);

test('a clock that jumps while its process runs is told of, delays nothing, and is forgotten when it is right again', async () => {
  await using scene = await startScene(0, 0, '3s,3s');
  const { herald, workspace, worker, clocks } = scene;
  const receiver = await herald.startReceiver((request) =>
    request.headers['x-service-event'] === 'task.done' ? 200 : 500,
  );
  await workspace.registerReceiver({ url: receiver.url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, START);
  for (const [jump, aheadMs] of [HOUR_MS, -HOUR_MS, 0].entries()) {
    clocks.worker.set(aheadMs);
    const hasWarning = async () => (await readinessOf(worker)).warnings.length > 0;
    await waitFor('the clock to have jumped', async () => (await hasWarning()) === (aheadMs !== 0), 15_000);
    await herald.waitForLog(aheadMs === 0 ? '"clock.right_again"' : '"clock.off"', worker);
    const count = receiver.requests.length;
    const acceptedAt = Date.now();
    await herald.executor.report(task.id, checkpoint(`c${jump}`));
    await receiver.waitForCount(count + 1);
    const arrival = webhooksAt(receiver).find(({ request }) => request.receivedAt >= acceptedAt);
    expect((arrival?.request.receivedAt ?? Infinity) - acceptedAt).toBeLessThan(3_000);
  }
  // A retry that was scheduled under a wrong clock comes when it is due: all were failed twice and are given up.
  await herald.settled(30_000);
}, 90_000);
