import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { checkIn, DONE, openApiClient, type Report, type ReportedItem, reportInBatches, START } from '../clients.ts';
import { prepareWorkspaces, startTasks, type WorkspacePlan } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import {
  type Build,
  createHeraldEnv,
  type Fsync,
  FSYNCS,
  type HeraldEnv,
  startApi,
  startBenchRedis,
  startWorker,
} from '../start-herald.ts';
import { type Receivers, startReceivers } from '../start-receivers.ts';
import { type Cell, median, spread } from '../table.ts';
import { type BuildRounds, createTurns, judgeRounds, type Paired, TARGETS, type Turns } from '../targets.ts';
import { type ProfiledProcess, profilerArgs, profileTable, startCpuReading } from '../usage.ts';
import {
  FAST_RECEIVERS,
  type FloorRound,
  floorRows,
  measureFloor,
  type Pace,
  PACE_COLUMNS,
  paceRow,
} from '../floor.ts';

/** Everything is accepted while no worker runs. Then one worker process sends it, as fast as it can. */
export const drain: Scenario = async ({ options, say }) => {
  const plan = planDrain(options.count);
  const { count } = plan;
  const floors: FloorRound[] = [];
  const turns = createTurns<Drained>(options.builds);
  for (let round = 1; round <= options.repeats; round++) {
    say(`floor, round ${round} of ${options.repeats}`);
    floors.push(await measureFloor(count));
    say(`drain, round ${round} of ${options.repeats}`);
    await turns.take((build) => measureDrain({ ...plan, build }));
  }
  const drains = turns.own;
  say('drain, writing its log');
  const logged = await measureDrain({ ...plan, logLevel: 'info' });
  const profiles: ProfiledProcess[] = [];
  if (options.profile) {
    say('drain, profiled');
    await measureDrain({ ...plan, profileWorker: true });
    profiles.push({ name: 'worker', scenario: 'drain', items: count });
  }
  const floor = median(floors.map(({ composed }) => composed.perSecond));
  const byCpu = median(drains.map(({ cpuUs }, index) => (floors[index]?.composed.cpuUs.worker ?? NaN) / cpuUs.worker));
  const duplicates = [...turns.all.flatMap(({ rounds }) => rounds), logged].reduce(
    (sum, drained) => sum + drained.duplicates,
    0,
  );
  const table = {
    title: `Drain: ${count} deliveries to ${FAST_RECEIVERS} receivers, one worker, median of ${options.repeats}`,
    columns: PACE_COLUMNS,
    rows: [
      ...floorRows(floors),
      ...turns.all.map(({ rounds, title }) =>
        paceRow(
          title('drain'),
          rounds,
          rounds.map(({ perSecond }, index) => perSecond / (floors[index]?.composed.perSecond ?? NaN)),
        ),
      ),
      paceRow('drain, log level info to a file (once)', [logged], [logged.perSecond / floor]),
    ],
    notes: [
      'Every row from cold, in a new process. spread: (largest - smallest) / median of its rounds; trust ratios before rates.',
      `By the worker's CPU alone, which other programs disturb less than rates: ${byCpu.toFixed(2)} of the floor.`,
      `Accepted before, in batches of 500: ${Math.round(median(drains.map((d) => d.acceptedPerSecond)))} deliveries/s. Sent twice: ${duplicates}.`,
    ],
  };
  return {
    tables: [table, ...(await Promise.all(profiles.map(profileTable)))],
    raw: { floors, drains: turns.all, logged },
    targets: [
      judgeRounds(
        'drain',
        `drain: ${count} pending, ${FAST_RECEIVERS} receivers, deliveries/s`,
        drains.map(({ perSecond }, index) => ({
          measured: perSecond,
          floor: floors[index]?.composed.perSecond ?? NaN,
        })),
      ),
    ],
    compared: [
      ...turns.compare('drain: deliveries/s', ({ perSecond }) => perSecond, 'drainBeside'),
      ...turns.compare('drain: µs CPU of the worker', ({ cpuUs }) => cpuUs.worker),
      ...turns.compare('drain: µs CPU of Redis', ({ cpuUs }) => cpuUs.redis ?? NaN),
    ],
  };
};

const RECEIVERS_PER_WORKSPACE = 10;
const WORKSPACES = FAST_RECEIVERS / RECEIVERS_PER_WORKSPACE;
/** The transitions of a Task; all but the start are delivered. */
const LIFE: readonly Report[] = [START, checkIn(1), checkIn(2), checkIn(3), DONE];
const DELIVERIES_PER_TASK = (LIFE.length - 1) * RECEIVERS_PER_WORKSPACE;
const DRAIN_DEADLINE_MS = 600_000;

export type Drained = Pace & { readonly duplicates: number; readonly acceptedPerSecond: number };

type DrainPlan = {
  readonly tasksPerWorkspace: number;
  readonly count: number;
  /** Default: this one. */
  readonly build?: Build;
  /** Worker processes; their CPU is counted as one. */
  readonly workers?: number;
  readonly logLevel?: 'warn' | 'info';
  readonly profileWorker?: boolean;
};

/** A number of deliveries that whole Tasks make, close to the wanted one. */
export function planDrain(count: number): Pick<DrainPlan, 'tasksPerWorkspace' | 'count'> {
  const tasksPerWorkspace = Math.max(1, Math.round(count / DELIVERIES_PER_TASK / WORKSPACES));
  return { tasksPerWorkspace, count: tasksPerWorkspace * WORKSPACES * DELIVERIES_PER_TASK };
}

/** Accepts everything while no worker runs, and then sends it. */
export async function measureDrain(plan: DrainPlan): Promise<Drained> {
  const { workers = 1, logLevel = 'warn', profileWorker = false } = plan;
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAST_RECEIVERS).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca, plan.build);
  const acceptedPerSecond = await acceptAll(plan, receivers, env);
  const folder = await mkdtemp(join(tmpdir(), 'herald-bench-log-'));
  try {
    await using running = new AsyncDisposableStack();
    const start = async (index: number) =>
      running.use(
        await startWorker({
          env,
          variables: { LOG_LEVEL: logLevel },
          ...(logLevel === 'info' && { logFile: join(folder, `worker-${index}.log`) }),
          nodeArgs: profileWorker ? await profilerArgs('worker', 'drain') : [],
        }),
      );
    const started = await Promise.all(Array.from({ length: workers }, (_, index) => start(index)));
    const pids = { workers: started.map(({ pid }) => pid), redis: redis.pid, receiver: receivers.pid };
    return { ...(await watchDrain(receivers, plan.count, pids)), acceptedPerSecond };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deliveries accepted per second. */
async function acceptAll(
  { tasksPerWorkspace, count }: DrainPlan,
  receivers: Receivers,
  env: HeraldEnv,
): Promise<number> {
  await using api = await startApi({ env });
  const plans = Array.from({ length: WORKSPACES }, (_, index): WorkspacePlan => {
    const first = index * RECEIVERS_PER_WORKSPACE;
    const origins = receivers.origins.slice(first, first + RECEIVERS_PER_WORKSPACE);
    return {
      id: `ws_bench${index}`,
      receivers: origins.map((origin) => ({ url: `${origin}/hook` })),
      tasks: tasksPerWorkspace,
    };
  });
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, plans);
  const taskIds = Array.from({ length: tasksPerWorkspace }, (_, index) =>
    workspaces.map((workspace) => workspace.taskIds[index] ?? ''),
  ).flat();
  const items = taskIds.flatMap((taskId): ReportedItem[] => LIFE.map((report) => ({ taskId, report })));
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: 2 });
  const startedAt = performance.now();
  await reportInBatches(executor, items, { batch: 500, width: 2 });
  return count / ((performance.now() - startedAt) / 1_000);
}

type Pids = { readonly workers: readonly number[]; readonly redis: number; readonly receiver: number };

/** Counts CPU from the first seen arrival, to leave out the worker's start. */
async function watchDrain(
  receivers: Receivers,
  count: number,
  { workers, redis, receiver }: Pids,
): Promise<Pace & { duplicates: number }> {
  const seenFirst = await waitFor('the first delivery', receivers.count, { until: (seen) => seen > 0 });
  const readCpu = startCpuReading({ redis, receiver });
  const readWorkers = workers.map((worker) => startCpuReading({ worker }));
  const deadlineMs = DRAIN_DEADLINE_MS;
  const seenLast = await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= count, deadlineMs });
  const cpuMs = { ...readCpu(), worker: readWorkers.reduce((sum, read) => sum + read().worker, 0) };
  const states = await receivers.read();
  const seconds = (Math.max(...states.map((s) => s.lastAt)) - Math.min(...states.map((s) => s.firstAt))) / 1_000;
  const toUs = (ms: number) => (ms * 1_000) / (seenLast - seenFirst);
  return {
    perSecond: count / seconds,
    cpuUs: { worker: toUs(cpuMs.worker), redis: toUs(cpuMs.redis), receiver: toUs(cpuMs.receiver) },
    duplicates: states.reduce((sum, { requests, deliveries }) => sum + requests - deliveries, 0),
  };
}

type ThroughCase = {
  /** Receivers of every transition. */
  readonly fanOut: number;
  readonly reports: 'batches' | 'singly';
  readonly fsync: Fsync;
};

const CASES: readonly ThroughCase[] = [1, 10].flatMap((fanOut) => [
  ...FSYNCS.map((fsync): ThroughCase => ({ fanOut, reports: 'batches', fsync })),
  { fanOut, reports: 'singly', fsync: 'always' },
]);

const labelOf = ({ fanOut, reports, fsync }: ThroughCase): string =>
  [reports === 'singly' ? 'single reports, ' : '', `fan-out ${fanOut}`, fsync === 'always' && ', appendfsync always']
    .filter((part) => part !== false)
    .join('');

/** Everything at once: an executor reports while a worker delivers, all on the same processors. */
export const through: Scenario = async ({ options: { count, repeats, builds }, say }) => {
  const floors: FloorRound[] = [];
  const measured = CASES.map((of) => ({ of, turns: createTurns<Through>(builds) }));
  for (let round = 1; round <= repeats; round++) {
    say(`through, floor, round ${round} of ${repeats}`);
    floors.push(await measureFloor(count));
    for (const { of, turns } of measured) {
      say(`through, ${labelOf(of)}, round ${round} of ${repeats}`);
      await turns.take((build) => measureThrough({ ...of, count, build }));
    }
  }
  const floorRates = floors.map(({ composed }) => composed.perSecond);
  /** The same with `everysec`, where that is measured too. */
  const everysecOf = ({ fanOut, reports, fsync }: ThroughCase) =>
    fsync === 'everysec'
      ? undefined
      : measured.find(({ of }) => of.fanOut === fanOut && of.reports === reports && of.fsync === 'everysec')?.turns;
  const accepted = measured.map(({ of, turns }) => {
    const rate = median(turns.own.map(({ acceptedPerSecond }) => acceptedPerSecond));
    return `${Math.round(rate)} deliveries/s (${labelOf(of)})`;
  });
  const table = {
    title: `Through: ${count} deliveries from the report to the receiver, median of ${repeats}`,
    columns: [
      ...['deliveries', 'per s', 'spread', 'of the floor', 'of everysec'],
      ...['µs CPU: API', 'worker', 'Redis', 'all three', 'receivers'],
    ],
    rows: [
      floorRow(floorRates),
      ...measured.flatMap(({ of, turns }) =>
        turns.all.map((rounds, index) => toRow(labelOf(of), rounds, floorRates, everysecOf(of)?.all[index]?.rounds)),
      ),
    ],
    notes: [
      `From the first report to the last arrival, in batches of 100 or 64 single reports at a time; as many receivers as the fan-out. Target in batches at fan-out 10: ${TARGETS.through.words} per s, all of it on two cores.`,
      'all three: API, worker and Redis, for a delivery accepted and sent; the load generator and the receivers are not in it.',
      `All accepted meanwhile at ${accepted.join(', ')}. The floor only delivers; it accepts nothing.`,
    ],
  };
  const targets = measured.flatMap(({ of, turns }) => {
    const pair = (floors: readonly number[]): Paired[] =>
      turns.own.map(({ perSecond }, index) => ({ measured: perSecond, floor: floors[index] ?? NaN }));
    const row = `through: ${labelOf(of)}, deliveries/s`;
    const everysec = everysecOf(of);
    if (everysec) return [judgeRounds('always', row, pair(ratesOf(everysec.own)))];
    return of.fanOut === 10 && of.reports === 'batches' ? [judgeRounds('through', row, pair(floorRates))] : [];
  });
  const raw = measured.map(({ of, turns }) => ({ ...of, builds: turns.all }));
  return { tables: [table], raw: { floors, measured: raw }, targets, compared: measured.flatMap(compareThrough) };
};

/** Single reports have targets beside an older build; batches are compared without. */
function compareThrough({ of, turns }: { readonly of: ThroughCase; readonly turns: Turns<Through> }) {
  const label = `through, ${labelOf(of)}`;
  const isSingle = of.reports === 'singly';
  const [cpu, rate] =
    of.fanOut === 1 ? (['singleCpu1', 'singleRate1'] as const) : (['singleCpu10', 'singleRate10'] as const);
  return [
    ...turns.compare(`${label}: µs CPU of all three`, ({ cpuUs }) => cpuUs.herald, isSingle ? cpu : undefined),
    ...turns.compare(`${label}: deliveries/s`, ({ perSecond }) => perSecond, isSingle ? rate : undefined),
  ];
}

function floorRow(rates: readonly number[]): Cell[] {
  return ['floor: BullMQ + got, composed', median(rates), percent(spread(rates)), 1, NaN, NaN, NaN, NaN, NaN, NaN];
}

function toRow(
  label: string,
  { rounds, title }: BuildRounds<Through>,
  floors: readonly number[],
  everysec: readonly Through[] = [],
): Cell[] {
  const rates = ratesOf(rounds);
  const ratioTo = (others: readonly number[]) => median(rates.map((rate, index) => rate / (others[index] ?? NaN)));
  const cpu = (name: keyof Through['cpuUs']) => median(rounds.map(({ cpuUs }) => cpuUs[name]));
  return [
    ...[title(label), median(rates), percent(spread(rates)), ratioTo(floors), ratioTo(ratesOf(everysec))],
    ...[cpu('api'), cpu('worker'), cpu('redis'), cpu('herald'), cpu('receiver')],
  ];
}

function ratesOf(rounds: readonly Through[]): number[] {
  return rounds.map(({ perSecond }) => perSecond);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const TASKS = 1_000;
const WARM_UP = 0.1;
const DEADLINE_MS = 600_000;

type ThroughPlan = ThroughCase & { readonly count: number; readonly build: Build };

type Through = {
  readonly perSecond: number;
  readonly acceptedPerSecond: number;
  /** CPU per accepted and sent delivery; `herald` is API, worker and Redis. */
  readonly cpuUs: Readonly<Record<'api' | 'worker' | 'redis' | 'herald' | 'receiver', number>>;
};

/** An executor reports while a worker delivers, on the same processors. */
async function measureThrough({ count, fanOut, reports, fsync, build }: ThroughPlan): Promise<Through> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis(fsync);
  await using receivers = await startReceivers({ ca, behaviours: new Array(fanOut).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  await using worker = await startWorker({ env });
  await using tasks = await startTasks({ apiPort: api.port, env, origins: receivers.origins, tasks: TASKS, reports });
  const arrived = (expected: number) =>
    waitFor('all deliveries', receivers.count, { until: (seen) => seen >= expected, deadlineMs: DEADLINE_MS });
  const warmUp = Math.ceil((count * WARM_UP) / fanOut);
  await tasks.checkIn(warmUp);
  await arrived(warmUp * fanOut);

  const transitions = Math.ceil(count / fanOut);
  const deliveries = transitions * fanOut;
  const readCpu = startCpuReading({ api: api.pid, worker: worker.pid, redis: redis.pid, receiver: receivers.pid });
  const startedAt = Date.now();
  await tasks.checkIn(transitions);
  const acceptedAt = Date.now();
  await arrived(warmUp * fanOut + deliveries);
  const cpuMs = readCpu();
  const lastAt = Math.max(...(await receivers.read()).map((state) => state.lastAt));
  const toUs = (ms: number) => (ms * 1_000) / deliveries;
  return {
    perSecond: deliveries / ((lastAt - startedAt) / 1_000),
    acceptedPerSecond: deliveries / ((acceptedAt - startedAt) / 1_000),
    cpuUs: {
      api: toUs(cpuMs.api),
      worker: toUs(cpuMs.worker),
      redis: toUs(cpuMs.redis),
      herald: toUs(cpuMs.api + cpuMs.worker + cpuMs.redis),
      receiver: toUs(cpuMs.receiver),
    },
  };
}
