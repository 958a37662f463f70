import { createCertificateAuthority, type RunningRedis, waitFor } from '@herald/test-kit';
import {
  type ApiClient,
  checkIn,
  forEachOf,
  openApiClient,
  report,
  type ReportedItem,
  reportInBatches,
  START,
} from '../clients.ts';
import { prepareWorkspaces } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import {
  type Build,
  createHeraldEnv,
  type Fsync,
  FSYNCS,
  type HeraldEnv,
  startApi,
  startBenchRedis,
} from '../start-herald.ts';
import { startProgram } from '../start-receivers.ts';
import { type Cell, median, spread, type Table } from '../table.ts';
import { createTurns, judgeAccept, judgeRounds, type TargetRow, type Turns } from '../targets.ts';
import { profilerArgs, profileTable, startCpuReading } from '../usage.ts';

const FAN_OUTS = [1, 10] as const;
type FanOut = (typeof FAN_OUTS)[number];
const KINDS = ['single', 'batch'] as const;

/** Results of one fan-out with each way of writing to the disk. */
type FanOutTurns = { readonly fanOut: FanOut; readonly bare: Accepted[] } & Readonly<Record<Fsync, Turns<AcceptRound>>>;

/** Transitions accepted per second while no worker runs, compared with an Express route that only runs a script. */
export const accept: Scenario = async ({ options: { repeats, builds, profile }, say }) => {
  const measured = FAN_OUTS.map((fanOut): FanOutTurns => ({
    fanOut,
    bare: [],
    everysec: createTurns(builds),
    always: createTurns(builds),
  }));
  for (const { fanOut, bare, ...turns } of measured) {
    for (let round = 1; round <= repeats; round++) {
      say(`accept, fan-out ${fanOut}, round ${round} of ${repeats}`);
      bare.push(await measureBareRoute(fanOut));
      for (const fsync of FSYNCS) await turns[fsync].take((build) => measureApi(fanOut, fsync, build));
    }
  }
  const tables: Table[] = [
    {
      title: `Accept: transitions per second, median of ${repeats}`,
      columns: ACCEPT_COLUMNS,
      rows: measured.flatMap(toRows),
      notes: [
        `Single over ${CONNECTIONS.single} connections, batches of ${BATCH} over ${CONNECTIONS.batch}; process warmed up; the load generator shares the cores.`,
        'The bare route: express.json() and one script with as many Redis commands; no key, no validation, no queue.',
        ...measured.map(byCpu),
      ],
    },
  ];
  if (profile) tables.push(...(await profileApi(say)));
  const raw = measured.map(({ fanOut, bare, everysec, always }) => ({
    fanOut,
    bare,
    everysec: everysec.all,
    always: always.all,
  }));
  return { tables, raw: { measured: raw }, targets: measured.flatMap(judge), compared: measured.flatMap(compare) };
};

function toRows({ fanOut, bare, everysec, always }: FanOutTurns): Cell[][] {
  const label = (row: string) => `${row}, fan-out ${fanOut}`;
  return [
    acceptRow(label('bare route'), bare, { bare }),
    ...everysec.all.flatMap(({ rounds, title }) => acceptRows((row) => title(label(row)), rounds, bare)),
    ...always.all.flatMap(({ rounds, title }, index) =>
      acceptRows((row) => title(`${label(row)}, always`), rounds, bare, everysec.all[index]?.rounds),
    ),
  ];
}

function judge({ fanOut, bare, everysec, always }: FanOutTurns): TargetRow[] {
  const rates = everysec.own.map(({ single, batch }, index) => ({
    bare: bare[index]?.perSecond ?? NaN,
    single: single.perSecond,
    batch: batch.perSecond,
  }));
  const judgeAlways = (kind: keyof AcceptRound) => {
    const rounds = always.own.map((round, index) => ({
      measured: round[kind].perSecond,
      floor: everysec.own[index]?.[kind].perSecond ?? NaN,
    }));
    return judgeRounds('always', `accept: ${kind}, fan-out ${fanOut}, appendfsync always, transitions/s`, rounds);
  };
  return [...judgeAccept(fanOut, rates), ...KINDS.map(judgeAlways)];
}

function compare({ fanOut, ...turns }: FanOutTurns) {
  return FSYNCS.flatMap((fsync) =>
    KINDS.flatMap((kind) => {
      const label = `accept, ${kind}, fan-out ${fanOut}${fsync === 'always' ? ', appendfsync always' : ''}`;
      const { compare } = turns[fsync];
      return [
        ...compare(`${label}: µs CPU of API and Redis`, (round) => cpuOf(round[kind]), 'acceptCpuBeside'),
        ...compare(`${label}: transitions/s`, (round) => round[kind].perSecond),
      ];
    }),
  );
}

function byCpu({ fanOut, bare, everysec: { own } }: FanOutTurns): string {
  const ofBare = median(own.map(({ single }, index) => cpuOf(bare[index] ?? single) / cpuOf(single))).toFixed(2);
  const ofSingle = median(own.map(({ single, batch }) => cpuOf(single) / cpuOf(batch))).toFixed(2);
  return `By the CPU of API and Redis alone, fan-out ${fanOut}: single ${ofBare} of the bare route, batch ${ofSingle} of single.`;
}

async function measureApi(fanOut: FanOut, fsync: Fsync, build: Build): Promise<AcceptRound> {
  const plan = { fanOut, fsync, build };
  return { single: await withApi(plan, measureSingles), batch: await withApi(plan, measureBatches) };
}

async function profileApi(say: (line: string) => void): Promise<Table[]> {
  const tables: Table[] = [];
  for (const [kind, items] of [
    ['single', SINGLES],
    ['batch', BATCHED],
  ] as const) {
    say(`accept, ${kind}, profiled`);
    const scenario = `accept-${kind}`;
    const nodeArgs = await profilerArgs('api', scenario);
    await withApi({ fanOut: 10, nodeArgs }, kind === 'single' ? measureSingles : measureBatches);
    tables.push(await profileTable({ name: 'api', scenario, items: items * (1 + WARM_UP) }));
  }
  return tables;
}

export type BareRouteInput = { readonly redisUrl: string; readonly fanOut: number };

const TASKS = 2_000;
/** Transitions of one measurement. Before it, a fifth as many warm the process up. */
const SINGLES = 5_000;
const BATCHED = 10_000;
const WARM_UP = 0.2;
export const BATCH = 100;
export const CONNECTIONS = { single: 32, batch: 8 };

export type Accepted = {
  readonly perSecond: number;
  readonly cpuUs: { readonly api: number; readonly redis: number };
  /** Reports that were made, those that warmed it up included. */
  readonly reports: number;
};

/** An Express route that only runs a script. */
async function measureBareRoute(fanOut: number): Promise<Accepted> {
  await using redis = await startBenchRedis();
  let port: number | undefined;
  const input: BareRouteInput = { redisUrl: redis.url, fanOut };
  await using route = await startProgram('bare-route', input, (started) => {
    port = (started as { port: number }).port;
  });
  await using single = openApiClient({
    port: await waitFor('the bare route to listen', () => port),
    connections: CONNECTIONS.single,
  });
  const taskIds = Array.from({ length: TASKS }, (_, index) => `task_01j9zq3xk7m4wq6y2bnd5v${index}`);
  return await measureSingles({ single, taskIds, pids: { api: route.pid, redis: redis.pid } });
}

type Pids = Readonly<Record<'api' | 'redis', number>>;
export type PreparedApi = {
  readonly single: ApiClient;
  readonly batch: ApiClient;
  readonly taskIds: readonly string[];
  readonly pids: Pids;
  readonly port: number;
  readonly redisUrl: string;
  /** Of the Tasks' workspace. */
  readonly workspaceKey: string;
  readonly executorKey: string;
};

type ApiPlan = {
  readonly fanOut: number;
  /** Default: everysec. */
  readonly fsync?: Fsync;
  /** Default: this one. */
  readonly build?: Build;
  readonly nodeArgs?: readonly string[];
};

/**
 * A new Redis and a new API with running Tasks. Nothing listens at the receivers' addresses, and nothing calls them.
 */
export async function withApi<T>(plan: ApiPlan, use: (api: PreparedApi) => Promise<T>): Promise<T> {
  await using redis = await startBenchRedis(plan.fsync);
  await using env = await createHeraldEnv(redis.url, await createCertificateAuthority(), plan.build);
  return await withApiOn(redis, env, plan, use);
}

/** The same on an existing Redis. */
export async function withApiOn<T>(
  redis: RunningRedis,
  env: HeraldEnv,
  { fanOut, nodeArgs = [] }: ApiPlan,
  use: (api: PreparedApi) => Promise<T>,
): Promise<T> {
  await using api = await startApi({ env, nodeArgs });
  const receivers = Array.from({ length: fanOut }, (_, index) => ({ url: `https://127.0.0.1:${40_001 + index}/hook` }));
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, [
    { id: 'ws_bench', receivers, tasks: TASKS },
  ]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using single = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS.single });
  await using batch = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS.batch });
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(batch, starts, { batch: BATCH, width: CONNECTIONS.batch });
  const workspaceKey = workspaces[0]?.key ?? '';
  const pids = { api: api.pid, redis: redis.pid };
  return await use({ single, batch, taskIds, pids, port: api.port, redisUrl: redis.url, workspaceKey, executorKey });
}

export function measureSingles({
  single,
  taskIds,
  pids,
}: Pick<PreparedApi, 'single' | 'taskIds' | 'pids'>): Promise<Accepted> {
  return measure(checkIns('single', taskIds, SINGLES), pids, (items) =>
    forEachOf(items, CONNECTIONS.single, (item) => report(single, item)),
  );
}

export function measureBatches({
  batch,
  taskIds,
  pids,
}: Pick<PreparedApi, 'batch' | 'taskIds' | 'pids'>): Promise<Accepted> {
  return measure(checkIns('batch', taskIds, BATCHED), pids, (items) =>
    reportInBatches(batch, items, { batch: BATCH, width: CONNECTIONS.batch }),
  );
}

/** Takes Tasks in turn, so that a Task has one report at a time. */
function checkIns(name: string, taskIds: readonly string[], count: number): ReportedItem[] {
  return Array.from({ length: count * (1 + WARM_UP) }, (_, index) => ({
    taskId: taskIds[index % taskIds.length] ?? '',
    report: checkIn(`${name}${index}`),
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
  return {
    perSecond: measured.length / seconds,
    cpuUs: { api: toUs(cpuMs.api), redis: toUs(cpuMs.redis) },
    reports: items.length,
  };
}

/** Acceptance by an API, one by one and in batches. */
type AcceptRound = Readonly<Record<'single' | 'batch', Accepted>>;

const ACCEPT_COLUMNS = [
  ...['transitions', 'per s', 'spread', 'of the bare route', 'of single', 'of everysec'],
  ...['µs CPU: API', 'Redis', 'both'],
];

/** Rounds that ratios refer to. */
type AcceptFloors = {
  readonly bare?: readonly Accepted[];
  readonly single?: readonly Accepted[];
  readonly everysec?: readonly Accepted[];
};

function acceptRow(name: string, rounds: readonly Accepted[], floors: AcceptFloors): Cell[] {
  const rates = rounds.map(({ perSecond }) => perSecond);
  const ratioTo = (floor: readonly Accepted[] = []) =>
    median(rates.map((rate, index) => rate / (floor[index]?.perSecond ?? NaN)));
  return [
    ...[name, median(rates), `${Math.round(spread(rates) * 100)} %`],
    ...[ratioTo(floors.bare), ratioTo(floors.single), ratioTo(floors.everysec)],
    median(rounds.map(({ cpuUs }) => cpuUs.api)),
    median(rounds.map(({ cpuUs }) => cpuUs.redis)),
    median(rounds.map(cpuOf)),
  ];
}

/** The rows of one build at one fan-out. */
function acceptRows(
  title: (row: string) => string,
  rounds: readonly AcceptRound[],
  bare: readonly Accepted[],
  everysec?: readonly AcceptRound[],
): Cell[][] {
  const pick = (name: keyof AcceptRound, from = rounds) => from.map((round) => round[name]);
  const floors = (name: keyof AcceptRound) => ({ bare, ...(everysec && { everysec: pick(name, everysec) }) });
  return [
    acceptRow(title('single'), pick('single'), floors('single')),
    acceptRow(title(`batch of ${BATCH}`), pick('batch'), { ...floors('batch'), single: pick('single') }),
  ];
}

/** CPU of API and Redis for a transition, in µs; other programs disturb it less than rates. */
function cpuOf({ cpuUs }: Accepted): number {
  return cpuUs.api + cpuUs.redis;
}
