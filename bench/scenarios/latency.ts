import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { atPace, checkIn, openApiClient, report, type ReportedItem, reportInBatches, START } from '../clients.ts';
import { explainLate, type Pause, type Span, startPauseTrace, type TracedProcess } from '../pauses.ts';
import { prepareWorkspaces, type WorkspacePlan } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { type Build, createHeraldEnv, startApi, startBenchRedis, startWorker, THIS_BUILD } from '../start-herald.ts';
import { type Receivers, runProgram, startReceivers } from '../start-receivers.ts';
import { type Cell, median, percentile, type Table } from '../table.ts';
import { type BuildRounds, createTurns, judgeRounds, type TargetName, type TargetRow, type Turns } from '../targets.ts';

type TargetsOfLoad = { readonly p50?: TargetName; readonly p99: TargetName };
type JudgedLoad = LatencyLoad & { readonly targets: TargetsOfLoad };
type LoadTurns = { readonly load: JudgedLoad; readonly turns: Turns<Latencies> };

const AT_PACE: TargetsOfLoad = { p50: 'latencyP50', p99: 'latencyP99' };
const AT_300: JudgedLoad = {
  name: '300/s, fan-out 1',
  deliveriesPerSecond: 300,
  receivers: 1,
  fanOut: 1,
  targets: AT_PACE,
};
const LOADS: readonly JudgedLoad[] = [
  AT_300,
  { name: '500/s, fan-out 1', deliveriesPerSecond: 500, receivers: 1, fanOut: 1, targets: AT_PACE },
  { name: '500/s, fan-out 10', deliveriesPerSecond: 500, receivers: 10, fanOut: 10, targets: AT_PACE },
  {
    name: '200/s over 50 receivers',
    deliveriesPerSecond: 200,
    receivers: 50,
    fanOut: 1,
    targets: { p99: 'latencySpreadP99' },
  },
];
/** The beginnings that are compared with another build. */
const SINCE: readonly { readonly since: string; readonly read: (latencies: Latencies) => readonly number[] }[] = [
  { since: 'from the 2xx', read: ({ fromAnswer }) => fromAnswer },
  { since: 'from the report', read: ({ fromReport }) => fromReport },
];
const SHARES = [0.5, 0.9, 0.99, 1] as const;

/** From the 2xx of a transition to the arrival of its deliveries at their receivers. */
export const latency: Scenario = async ({ options: { seconds, repeats, builds, profile }, say }) => {
  const measured = LOADS.map((load): LoadTurns => ({ load, turns: createTurns(builds) }));
  for (let round = 1; round <= repeats; round++) {
    for (const { load, turns } of measured) {
      say(`latency, ${load.name}, round ${round} of ${repeats}, ${seconds} s`);
      await turns.take((build) => measureLatency({ load, seconds, build }));
    }
  }
  const table = {
    title: `Latency in ms: ${seconds} s, median of ${repeats}`,
    columns: ['to the arrival of the headers', 'deliveries', 'p50', 'p90', 'p99', 'max'],
    rows: measured.flatMap(({ load, turns }) => turns.all.flatMap((rounds) => toRows(load, rounds))),
    notes: [
      'node:https alone: the same bodies at the same pace from a program that does nothing else, to the same receivers.',
      'Over 50 receivers each event goes to one of them, which is the callback of its Task, in turn.',
      `A delivery may arrive before the executor has its 2xx, and counts as 0 then. Targets are from the 2xx, after processes that were just started have run for ${WARM_UP_SECONDS} s.`,
    ],
  };
  const tables = profile ? [table, ...(await traceLate(seconds, say))] : [table];
  const raw = measured.map(({ load: { name }, turns }) => ({
    name,
    builds: turns.all.map(({ build, rounds }) => ({ build, rounds: rounds.map(summarize) })),
  }));
  return {
    tables,
    raw: { measured: raw },
    targets: measured.flatMap(judge),
    compared: measured.flatMap(({ load: { name }, turns }) =>
      SINCE.flatMap(({ since, read }) => [
        ...turns.compare(`latency, ${name}: p50 ms ${since}`, (of) => percentile(read(of), 0.5), 'latencyP50Beside'),
        ...turns.compare(`latency, ${name}: p99 ms ${since}`, (of) => percentile(read(of), 0.99), 'latencyP99Beside'),
      ]),
    ),
  };
};

/** What the slowest hundredth waited for, in the first seconds of the processes and after them. */
async function traceLate(seconds: number, say: (line: string) => void): Promise<Table[]> {
  say(`latency, ${AT_300.name}, with a trace of what stands still`);
  const { traced } = await measureLatency({ load: AT_300, seconds, build: THIS_BUILD, isTraced: true });
  if (!traced) throw new Error('nothing was traced');
  return [
    explainLate(`What the slowest hundredth waited for, the ${WARM_UP_SECONDS} s before`, traced.warmUp, traced.pauses),
    explainLate(`What the slowest hundredth waited for, ${AT_300.name}`, traced.load, traced.pauses),
  ];
}

function judge({ load: { name, targets }, turns }: LoadTurns): TargetRow[] {
  const judgeShare = (target: TargetName, label: string, share: number) =>
    judgeRounds(
      target,
      `latency: ${label} at ${name}, ms`,
      turns.own.map(({ fromAnswer, floor }) => ({
        measured: percentile(fromAnswer, share),
        floor: percentile(floor, share),
      })),
    );
  return [
    ...(targets.p50 === undefined ? [] : [judgeShare(targets.p50, 'p50', 0.5)]),
    judgeShare(targets.p99, 'p99', 0.99),
  ];
}

function toRows({ name }: LatencyLoad, { rounds, title }: BuildRounds<Latencies>): Cell[][] {
  const toRow = (label: string, read: (latencies: Latencies) => readonly number[]): Cell[] => {
    const some = rounds.map(read);
    const sum = some.reduce((all, { length }) => all + length, 0);
    return [title(label), sum, ...SHARES.map((share) => median(some.map((sorted) => percentile(sorted, share))))];
  };
  return [
    toRow(`node:https alone, ${name}`, ({ floor }) => floor),
    toRow(`from the 2xx, ${name}, the ${WARM_UP_SECONDS} s before`, ({ warmUp }) => warmUp),
    toRow(`from the report, ${name}`, ({ fromReport }) => fromReport),
    toRow(`from the 2xx, ${name}`, ({ fromAnswer }) => fromAnswer),
  ];
}

function summarize(latencies: Latencies): object {
  return Object.fromEntries(MEASURED.map((name) => [name, SHARES.map((share) => percentile(latencies[name], share))]));
}

/** A steady load. With more receivers than the fan-out, each event goes to some of them, in turn. */
type LatencyLoad = {
  readonly name: string;
  readonly deliveriesPerSecond: number;
  readonly receivers: number;
  readonly fanOut: number;
};

export type PostAtPaceInput = {
  readonly urls: readonly string[];
  readonly caFile: string;
  readonly everyMs: number;
  readonly count: number;
  /** Number of urls of each event, in turn. */
  readonly fanOut: number;
  readonly body: object;
};
/** A request, and the time of its call, epoch ms. */
export type PostedAt = readonly [id: string, at: number];

/** Each sorted, in ms. */
export type Latencies = Readonly<Record<(typeof MEASURED)[number], readonly number[]>> & {
  readonly traced?: {
    readonly warmUp: readonly Span[];
    readonly load: readonly Span[];
    readonly pauses: ReadonlyMap<string, readonly Pause[]>;
  };
};
const MEASURED = ['floor', 'warmUp', 'fromReport', 'fromAnswer'] as const;

/**
 * Lasts until about 10,000 transitions: around then, processes once use more CPU for a second (docs/performance.md,
 * "The first 20 seconds").
 */
const WARM_UP_SECONDS = 25;
const FLOOR_WARM_UP_SECONDS = 3;
const TASKS = 200;
const CONNECTIONS = 16;
const ARRIVAL_DEADLINE_MS = 120_000;

type LatencyMeasurement = {
  readonly load: LatencyLoad;
  readonly seconds: number;
  readonly build: Build;
  /** Of API and worker. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Notes what stands still, which makes everything slower. */
  readonly isTraced?: boolean;
  /** Between the warm-up and the load. */
  readonly beforeLoad?: () => Promise<unknown>;
};

export async function measureLatency(measurement: LatencyMeasurement): Promise<Latencies> {
  const { load, seconds, build, variables = {}, isTraced = false, beforeLoad } = measurement;
  const { fanOut } = load;
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using trace = isTraced ? await startPauseTrace(redis.url) : undefined;
  const nodeArgs = (name: TracedProcess) => trace?.nodeArgs(name) ?? [];
  await using receivers = await startReceivers({
    ca,
    behaviours: new Array(load.receivers).fill('ok') as 'ok'[],
    recordArrivals: true,
    nodeArgs: nodeArgs('receivers'),
  });
  await using env = await createHeraldEnv(redis.url, ca, build);
  const urls = receivers.origins.map((origin) => `${origin}/hook`);
  const everyMs = (1_000 / load.deliveriesPerSecond) * fanOut;
  const count = Math.round((seconds * 1_000) / everyMs);

  const body = { event: 'task.check_in', created_at: new Date().toISOString(), ...checkIn(1) };
  const floorWarmUp = Math.round((FLOOR_WARM_UP_SECONDS * 1_000) / everyMs);
  const input: PostAtPaceInput = {
    urls,
    caFile: env.caFile,
    everyMs,
    fanOut,
    body,
    count: floorWarmUp + Math.ceil(count / 3),
  };
  const posted = (await runProgram('post-at-pace', input)) as PostedAt[];
  const floor = latenciesOf(await spansSince(receivers, new Map(posted.slice(floorWarmUp * fanOut)), 1));

  await using running = new AsyncDisposableStack();
  const api = running.use(await startApi({ env, variables, nodeArgs: nodeArgs('API') }));
  running.use(await startWorker({ env, variables, nodeArgs: nodeArgs('worker') }));
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, [planWorkspace(load, urls)]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS });
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(executor, starts, { batch: 100, width: 2 });

  const now = () => performance.timeOrigin + performance.now();
  const reportedAt = new Map<string, number>();
  const answeredAt = new Map<string, number>();
  const send = (name: string, transitions: number) =>
    atPace(everyMs, transitions, async (index) => {
      const startedAt = now();
      const id = await report(executor, { taskId: taskIds[index % TASKS] ?? '', report: checkIn(`${name}${index}`) });
      reportedAt.set(id, startedAt);
      answeredAt.set(id, now());
    });
  await send('warm', Math.round((WARM_UP_SECONDS * 1_000) / everyMs)); // connections, JIT
  const warmUp = await spansSince(receivers, answeredAt, fanOut);
  reportedAt.clear();
  answeredAt.clear();
  await beforeLoad?.();
  await send('load', count);
  const fromReport = latenciesOf(await spansSince(receivers, reportedAt, fanOut));
  const underLoad = await spansSince(receivers, answeredAt, fanOut);
  // The processes write what they have noted when they end.
  await running.disposeAsync();
  const pauses = await trace?.read();
  return {
    floor,
    warmUp: latenciesOf(warmUp),
    fromReport,
    fromAnswer: latenciesOf(underLoad),
    ...(pauses && { traced: { warmUp, load: underLoad, pauses } }),
  };
}

/** Registered receivers get the events of every Task; a callback only those of its own. */
function planWorkspace({ fanOut }: LatencyLoad, urls: readonly string[]): WorkspacePlan {
  const plan = { id: 'ws_bench', tasks: TASKS };
  if (urls.length === fanOut) return { ...plan, receivers: urls.map((url) => ({ url })) };
  if (fanOut !== 1) throw new Error('a Task has one callback');
  return { ...plan, receivers: [], callbackUrl: (index) => urls[index % urls.length] ?? '' };
}

/** Waits until all have arrived. */
async function spansSince(
  receivers: Receivers,
  since: ReadonlyMap<string, number>,
  fanOut: number,
): Promise<readonly Span[]> {
  const read = async () =>
    (await receivers.read()).flatMap(({ arrivals = [] }) =>
      arrivals.flatMap(([, to, id]): Span[] => {
        const from = since.get(id);
        return from === undefined ? [] : [{ from, to: Math.max(from, to) }];
      }),
    );
  const until = ({ length }: readonly Span[]) => length >= since.size * fanOut;
  return await waitFor('all arrivals', read, { until, deadlineMs: ARRIVAL_DEADLINE_MS });
}

function latenciesOf(spans: readonly Span[]): readonly number[] {
  return spans.map(({ from, to }) => to - from).sort((a, b) => a - b);
}
