import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBuiltCli } from '../support/run-cli.ts';
import { startHerald, type Herald } from '../support/start-herald.ts';
import type { Env } from '../support/start-herald-process.ts';
import type { Handle } from '../support/track-handles.ts';

const REPORTER = new URL('../support/report-leftovers.ts', import.meta.url).href;

/** Timers that end with the process. None of them waits for anything of ours. */
const MAY_STAY = [
  // It ends a stop that takes too long.
  'process.stop_timed_out',
  // Node's: the time of its Date header.
  'function resetCache()',
  // ioredis': it destroys a connection that the server doesn't close.
  'still open, destroying it',
  // The metrics library's: it has no end for it.
  'eventLoopUtilization()',
];

/** A file for what a process leaves when it ends, and the environment that makes it write that. */
async function createReport() {
  const folder = await mkdtemp(join(tmpdir(), 'herald-left-'));
  const file = join(folder, 'left.json');
  const env: Env = { NODE_OPTIONS: `--import=${REPORTER}`, HERALD_TEST_LEFTOVERS: file };
  return {
    env,
    async read(): Promise<readonly string[]> {
      const left = JSON.parse(await readFile(file, 'utf8')) as readonly Handle[];
      const all = left.map(({ type, what }) => `${type}: ${what}`);
      // Nor has it one for its channel to other threads, which holds up nothing. There is one in a process.
      const channel = all.findIndex((one) => one.startsWith('MESSAGEPORT: '));
      return all.filter((one, index) => index !== channel && !MAY_STAY.some((text) => one.includes(text)));
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Receivers that answer well and badly, and a request that is refused. */
async function work(herald: Herald): Promise<void> {
  const workspace = await herald.createWorkspace();
  const good = await herald.startReceiver();
  const bad = await herald.startReceiver(() => ({ status: 500 }));
  for (const { url } of [good, bad]) await workspace.registerReceiver({ url });
  const task = await workspace.createTask();
  await herald.executor.report(task.id, { type: 'start' });
  await herald.executor.report(task.id, { type: 'done', result: { summary: 'done' } });
  await Promise.all([good.next(), bad.next()]);
  expect((await herald.request('GET', '/nowhere')).status).toBe(404);
}

test.each([
  { what: 'that did nothing', before: () => Promise.resolve() },
  { what: 'that did much', before: work },
])(
  'after SIGTERM an API and a worker $what leave no timer, no connection and nothing else',
  async ({ before }) => {
    await using apiReport = await createReport();
    await using workerReport = await createReport();
    await using herald = await startHerald({ apis: 0, workers: 0 });
    const api = await herald.startApi(apiReport.env);
    const worker = await herald.startWorker(workerReport.env);
    await before(herald);
    const ends = await Promise.all([worker.stop(), api.stop()]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    expect({ api: await apiReport.read(), worker: await workerReport.read() }).toEqual({ api: [], worker: [] });
  },
  60_000,
);

test('an API and a worker whose Redis has gone end by themselves in time, and leave nothing', async () => {
  await using apiReport = await createReport();
  await using workerReport = await createReport();
  await using herald = await startHerald({ apis: 0, workers: 0, env: { DELIVERY_TIMEOUT: '1s' } });
  const api = await herald.startApi(apiReport.env);
  const worker = await herald.startWorker(workerReport.env);
  await herald.server.kill();
  const ends = await Promise.all([worker.stop(), api.stop()]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  expect(worker.process.output()).toContain('redis.given_up');
  expect({ api: await apiReport.read(), worker: await workerReport.read() }).toEqual({ api: [], worker: [] });
}, 60_000);

test('a command leaves nothing when it ends', async () => {
  await using report = await createReport();
  await using herald = await startHerald({ apis: 0, workers: 0 });
  const { code } = await runBuiltCli(['keys', 'list'], { ...herald.topology.env, ...report.env });
  expect({ code, left: await report.read() }).toEqual({ code: 0, left: [] });
}, 60_000);
