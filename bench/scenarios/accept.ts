import { createCertificateAuthority, waitFor, type RunningRedis } from '@herald/test-kit';
import { forEachOf, openApiClient, type ApiClient } from '../api-client.ts';
import { startCpuReading } from '../cpu-time.ts';
import { checkIn, report, reportInBatches, START, type ReportedItem } from '../executor.ts';
import { prepareWorkspaces } from '../prepare-workspaces.ts';
import { profilerArgs, profileTable } from '../profile.ts';
import { startProgram } from '../run-program.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi } from '../start-herald.ts';
import { median, spread } from '../statistics.ts';
import type { Cell, Table } from '../table.ts';

export type BareRouteInput = { readonly redisUrl: string; readonly fanOut: number };

const FAN_OUTS = [1, 10] as const;
type FanOut = (typeof FAN_OUTS)[number];
const TASKS = 2_000;
/** Transitions of one measurement; before it a fifth of them, unmeasured, warms the process up. */
const SINGLES = 5_000;
const BATCHED = 10_000;
const WARM_UP = 0.2;
const BATCH = 100;
const CONNECTIONS = { single: 32, batch: 8 };

type Accepted = {
  readonly perSecond: number;
  readonly cpuUs: { readonly api: number; readonly redis: number };
};
type Round = Readonly<Record<'bare' | 'single' | 'batch', Accepted>>;

/** Transitions accepted per second while no worker runs, beside an Express route that only runs a script. */
export const accept: Scenario = async ({ options, say }) => {
  const rounds = new Map<FanOut, Round[]>();
  for (const fanOut of FAN_OUTS) {
    const measured: Round[] = [];
    for (let round = 1; round <= options.repeats; round++) {
      say(`accept, fan-out ${fanOut}, round ${round} of ${options.repeats}`);
      measured.push({ bare: await measureBareRoute(fanOut), ...(await measureApi(fanOut)) });
    }
    rounds.set(fanOut, measured);
  }
  const tables: Table[] = [
    {
      title: `Accept: transitions per second, median of ${options.repeats}`,
      columns: ['transitions', 'per s', 'spread', 'of the bare route', 'of single', 'µs CPU: API', 'Redis'],
      rows: [...rounds].flatMap(([fanOut, measured]) => toRows(fanOut, measured)),
      notes: [
        `Single over ${CONNECTIONS.single} connections, batches of ${BATCH} over ${CONNECTIONS.batch}; process warmed up; the load generator shares the cores.`,
        'The bare route: express.json() and one script with as many Redis commands; no key, no validation, no queue.',
        ...[...rounds].map(([fanOut, measured]) => byCpu(fanOut, measured)),
      ],
    },
  ];
  if (options.profile) tables.push(...(await profileApi(say)));
  return { tables, raw: Object.fromEntries(rounds) };
};

function toRows(fanOut: FanOut, rounds: readonly Round[]): Cell[][] {
  const toRow = (name: keyof Round, label: string): Cell[] => {
    const rates = rounds.map((round) => round[name].perSecond);
    const ratioTo = (other: keyof Round) =>
      other === name ? NaN : median(rounds.map((round) => round[name].perSecond / round[other].perSecond));
    return [
      `${label}, fan-out ${fanOut}`,
      median(rates),
      `${Math.round(spread(rates) * 100)} %`,
      ratioTo('bare'),
      name === 'bare' ? NaN : ratioTo('single'),
      median(rounds.map((round) => round[name].cpuUs.api)),
      median(rounds.map((round) => round[name].cpuUs.redis)),
    ];
  };
  return [toRow('bare', 'bare route'), toRow('single', 'single'), toRow('batch', `batch of ${BATCH}`)];
}

/** Other programs disturb CPU less than rates. */
function byCpu(fanOut: FanOut, rounds: readonly Round[]): string {
  const sum = ({ cpuUs }: Accepted) => cpuUs.api + cpuUs.redis;
  const ratio = (a: keyof Round, b: keyof Round) => median(rounds.map((round) => sum(round[a]) / sum(round[b])));
  const [ofBare, ofSingle] = [ratio('bare', 'single').toFixed(2), ratio('single', 'batch').toFixed(2)];
  return `By the CPU of API and Redis alone, fan-out ${fanOut}: single ${ofBare} of the bare route, batch ${ofSingle} of single.`;
}

async function measureBareRoute(fanOut: FanOut): Promise<Accepted> {
  await using redis = await startBenchRedis();
  let port: number | undefined;
  const input: BareRouteInput = { redisUrl: redis.url, fanOut };
  await using route = await startProgram('bare-route', input, (started) => {
    port = (started as { port: number }).port;
  });
  await using client = openApiClient({
    port: await waitFor('the bare route to listen', () => port),
    connections: CONNECTIONS.single,
  });
  const taskIds = Array.from({ length: TASKS }, (_, index) => `task_01j9zq3xk7m4wq6y2bnd5v${index}`);
  return await measureSingles(client, taskIds, { api: route.pid, redis: redis.pid });
}

async function measureApi(fanOut: FanOut): Promise<Pick<Round, 'single' | 'batch'>> {
  const single = await withApi(fanOut, [], (api) => measureSingles(api.single, api.taskIds, api.pids));
  const batch = await withApi(fanOut, [], (api) => measureBatches(api.batch, api.taskIds, api.pids));
  return { single, batch };
}

async function profileApi(say: (line: string) => void): Promise<Table[]> {
  const tables: Table[] = [];
  for (const [kind, items] of [
    ['single', SINGLES],
    ['batch', BATCHED],
  ] as const) {
    say(`accept, ${kind}, profiled`);
    const scenario = `accept-${kind}`;
    await withApi(10, await profilerArgs('api', scenario), (api) =>
      kind === 'single'
        ? measureSingles(api.single, api.taskIds, api.pids)
        : measureBatches(api.batch, api.taskIds, api.pids),
    );
    tables.push(await profileTable({ name: 'api', scenario, items: items * (1 + WARM_UP) }));
  }
  return tables;
}

type Pids = Readonly<Record<'api' | 'redis', number>>;
type PreparedApi = {
  readonly single: ApiClient;
  readonly batch: ApiClient;
  readonly taskIds: readonly string[];
  readonly pids: Pids;
};

/** A new Redis and a new API with running Tasks; nobody listens at the receivers' addresses, and nobody calls them. */
async function withApi<T>(fanOut: FanOut, nodeArgs: readonly string[], use: (api: PreparedApi) => Promise<T>) {
  const ca = await createCertificateAuthority();
  await using redis: RunningRedis = await startBenchRedis();
  await using env = await createHeraldEnv(redis.url, ca);
  await using api = await startApi({ env, nodeArgs });
  const receivers = Array.from({ length: fanOut }, (_, index) => ({ url: `https://127.0.0.1:${40_001 + index}/hook` }));
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, redis.url, [
    { id: 'ws_bench', receivers, tasks: TASKS },
  ]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using single = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS.single });
  await using batch = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS.batch });
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(batch, starts, { batch: BATCH, width: CONNECTIONS.batch });
  return await use({ single, batch, taskIds, pids: { api: api.pid, redis: redis.pid } });
}

function measureSingles(client: ApiClient, taskIds: readonly string[], pids: Pids): Promise<Accepted> {
  return measure(checkIns(taskIds, SINGLES), pids, (items) =>
    forEachOf(items, CONNECTIONS.single, (item) => report(client, item)),
  );
}

function measureBatches(client: ApiClient, taskIds: readonly string[], pids: Pids): Promise<Accepted> {
  return measure(checkIns(taskIds, BATCHED), pids, (items) =>
    reportInBatches(client, items, { batch: BATCH, width: CONNECTIONS.batch }),
  );
}

/** In turn for every Task, so that no Task is reported about twice at a time. */
function checkIns(taskIds: readonly string[], count: number): ReportedItem[] {
  return Array.from({ length: count * (1 + WARM_UP) }, (_, index) => ({
    taskId: taskIds[index % taskIds.length] ?? '',
    report: checkIn(index),
  }));
}

async function measure(
  items: readonly ReportedItem[],
  pids: Pids,
  run: (items: readonly ReportedItem[]) => Promise<unknown>,
): Promise<Accepted> {
  const warmUp = Math.round((items.length * WARM_UP) / (1 + WARM_UP));
  await run(items.slice(0, warmUp));
  const measured = items.slice(warmUp);
  const readCpu = startCpuReading(pids);
  const startedAt = performance.now();
  await run(measured);
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuMs = readCpu();
  const toUs = (ms: number) => (ms * 1_000) / measured.length;
  return { perSecond: measured.length / seconds, cpuUs: { api: toUs(cpuMs.api), redis: toUs(cpuMs.redis) } };
}
