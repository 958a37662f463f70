import { askRedis, freePort, launchProcess, startPostgres, waitFor } from '@herald/test-kit';
import { problemOf } from '../support/problems.ts';
import { scrape } from '../support/metrics.ts';
import { sendRequest } from '../support/http-request.ts';
import { startFakeServer } from '../support/start-fake-server.ts';
import { entryPoint, type Env, type Role } from '../support/start-herald-process.ts';
import { startTopology, type Topology } from '../support/start-topology.ts';

jest.setTimeout(90_000);

const ROLES = ['api', 'worker'] as const;
const METRICS_TOKEN = 'a-token-of-the-metrics-1';
/** From the moment its servers are there, in ms. It looks once a second, and one that fails takes up to six. */
const READY_LIMIT_MS = 15_000;

interface Readiness {
  readonly problems: readonly { readonly code: string; readonly sentence: string }[];
  readonly warnings: readonly { readonly code: string }[];
}

/** A process of which nobody knows whether it can start. */
async function launch(role: Role, env: Env) {
  const port = await freePort();
  const running = await launchProcess({
    name: role,
    command: process.execPath,
    args: [entryPoint(role)],
    env: {
      SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
      ACTION_URL_TEMPLATE: 'https://app.example.com/tasks/{taskId}',
      METRICS_TOKEN,
      ...(role === 'api' ? { PORT: String(port) } : { WORKER_PORT: String(port) }),
      ...env,
    },
  });
  const origin = `http://127.0.0.1:${port}`;
  const ask = async (path: string) => {
    if (running.hasExited()) throw new Error(`the ${role} ended:\n${running.tail()}`);
    // Its port is closed until it waits, or has started.
    const answer = await fetch(origin + path).catch(() => undefined);
    return answer && { status: answer.status, body: (await answer.json()) as Readiness };
  };
  const readyAs = (status: number, limitMs: number) =>
    waitFor(
      `the ${role} to answer /readyz with ${status}`,
      async () => {
        const answer = await ask('/readyz');
        return answer?.status === status && answer.body;
      },
      limitMs,
    );
  return {
    role,
    running,
    origin,
    /** What it says while it waits. */
    waits: () => readyAs(503, 20_000),
    isReady: () => readyAs(200, READY_LIMIT_MS),
    causes: () =>
      running.stdout
        .filter((line) => line.includes('"process.waiting"'))
        .map((line) => (JSON.parse(line) as { code: string }).code),
    [Symbol.asyncDispose]: async () => {
      expect(await running.stop()).toEqual({ code: 0, signal: null });
    },
  };
}
type Launched = Awaited<ReturnType<typeof launch>>;

async function expectWaiting({ waits, role, origin, running }: Launched, code: string): Promise<void> {
  const { problems } = await waits();
  expect(problems).toEqual([
    {
      level: 'error',
      code: 'redis_away',
      sentence: `Redis can't be used yet (${code}), and this process waits for it; "herald doctor" says what to do`,
    },
  ]);
  expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  const metrics = await scrape(origin, { authorization: `Bearer ${METRICS_TOKEN}` });
  expect([metrics.sum('herald_build_info'), metrics.sum('herald_service_state_known')]).toEqual([1, 0]);
  expect(running.hasExited()).toBe(false);
  if (role === 'worker') return;
  const report = await sendRequest(origin, 'POST', '/api/internal/transitions', { body: { transitions: [] } });
  expect({ status: report.status, code: problemOf(report).code }).toEqual({ status: 503, code: 'unavailable' });
  expect(Number(report.headers['retry-after'])).toBeGreaterThan(0);
  expect((await sendRequest(origin, 'GET', '/metrics')).status).toBe(401);
}

/** Names of connections to the servers that live, more than once if several bear it. */
async function connectionsAt({ servers }: Topology): Promise<string[]> {
  const lists = await Promise.all(servers.map(({ port }) => askRedis(port, 'CLIENT LIST')));
  return lists.flatMap((list) => [...list.matchAll(/ name=(herald-\S+)/g)].map(([, name = '']) => name));
}

const SCENES = [
  { what: 'Redis away', kind: 'single', away: [0], code: 'redis_away' },
  // A master and its replica.
  { what: 'a node of the cluster and its replica away', kind: 'cluster', away: [1, 4], code: 'redis_cluster_down' },
  { what: 'Sentinels without a master', kind: 'sentinel', away: [0, 1], code: 'redis_master_away' },
] as const;

test.concurrent.each(SCENES)(
  'with $what, API and worker start, wait unready, and go on when it is there',
  async ({ kind, away, code }) => {
    await using topology = await startTopology(kind);
    const gone = away.map((index) => topology.servers[index]).filter((server) => server !== undefined);
    await Promise.all(gone.map((server) => server.kill()));
    if (kind === 'cluster') {
      const [{ port } = { port: 0 }] = topology.servers;
      await waitFor('the cluster to notice', async () =>
        (await askRedis(port, 'CLUSTER INFO')).includes('cluster_state:fail'),
      );
    }
    await using api = await launch('api', topology.env);
    await using worker = await launch('worker', topology.env);
    await Promise.all([api, worker].map((each) => expectWaiting(each, code)));

    await Promise.all(gone.map((server) => server.restart()));
    await Promise.all([api.isReady(), worker.isReady()]);
    // The same processes, which had one cause each, and left no connection of their waiting.
    for (const { causes, running } of [api, worker]) {
      expect(causes()[0]).toBe(code);
      expect(running.output()).not.toMatch(/"level":"error"/);
    }
    const names = await connectionsAt(topology);
    expect(names.filter((name) => !/^herald-(api|worker)\b/.test(name))).toEqual([]);
    // A cluster's client has one for each server, and Sentinels don't list theirs here.
    const ofApi = names.filter((name) => name === 'herald-api/4').length;
    expect(ofApi).toBeGreaterThan(0);
    expect(ofApi).toBeLessThanOrEqual(kind === 'cluster' ? topology.servers.length : 1);
    // What readiness says of the service is remembered for a moment.
    await waitFor(
      'the worker to be seen',
      async () => (await worker.isReady()).warnings.map(({ code: each }) => each),
      { until: (codes) => !codes.includes('no_worker') },
    );
  },
);

test.concurrent('with PostgreSQL away, API and worker start ready with a warning, and make its schema when it is there', async () => {
  await using redis = await startTopology('single');
  await using postgres = await startPostgres();
  await postgres.stop();
  const env = { ...redis.env, HISTORY_URL: postgres.url };
  await using api = await launch('api', env);
  await using worker = await launch('worker', env);
  for (const { isReady } of [api, worker]) {
    expect((await isReady()).warnings.map(({ code }) => code)).toContain('history_away');
  }
  await postgres.restart();
  for (const { isReady, role } of [api, worker]) {
    await waitFor(
      `the ${role} to have no warning`,
      async () => (await isReady()).warnings.every(({ code }) => code !== 'history_away'),
      READY_LIMIT_MS,
    );
  }
  expect(worker.running.output()).toContain('"history.migrated"');
  const { names, sum } = await scrape(worker.origin);
  // A server that is away is no schema that can't be brought up to date.
  const failures = 'herald_history_migration_failures_total';
  expect([names.has(failures), sum(failures)]).toEqual([true, 0]);
});

test.each(ROLES)('SIGTERM ends the %s at once while it waits, and while it looks', async (role) => {
  // Its first look takes five seconds.
  const { promise: asked, resolve } = Promise.withResolvers<undefined>();
  await using silent = await startFakeServer(() => {
    resolve(undefined);
  });
  await using looking = await launch(role, { REDIS_URL: `redis://127.0.0.1:${silent.port}` });
  await using waiting = await launch(role, { REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  await Promise.all([asked, waiting.waits()]);
  for (const { running } of [looking, waiting]) {
    const before = performance.now();
    expect(await running.stop()).toEqual({ code: 0, signal: null });
    expect(performance.now() - before).toBeLessThan(4_000);
    expect(running.stderr).toEqual([]);
  }
});
