import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import {
  actionRequired,
  type ApiClient,
  atPace,
  checkIn,
  openApiClient,
  report,
  type ReportedItem,
  reportInBatches,
  START,
} from '../clients.ts';
import { aloneOf, chooseVariants, HEALTHY, type Variant } from '../isolation-variants.ts';
import { type PreparedWorkspace, prepareWorkspaces, type WorkspacePlan } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { type Build, createHeraldEnv, startApi, startBenchRedis, startWorker } from '../start-herald.ts';
import { type Behaviour, type Receivers, RETRY_AFTER_PATH, startReceivers } from '../start-receivers.ts';
import { type Cell, percentile, type Table } from '../table.ts';
import { type BuildRounds, createTurns, judgeIsolation, judgeNeighbours, type Turns } from '../targets.ts';
import { startCpuReading } from '../usage.ts';

type VariantTurns = { readonly variant: Variant; readonly turns: Turns<IsolationFigures> };

/**
 * The effect of neighbours on healthy receivers. Of each load, the run without neighbours comes first; ratios refer to
 * that of the same build.
 */
export const isolation: Scenario = async ({ options: { seconds, variants, builds, destinations, behind }, say }) => {
  const measured: VariantTurns[] = [];
  const chosen = chooseVariants(variants, { groups: destinations, pending: behind });
  for (const [index, variant] of chosen.entries()) {
    say(`isolation, ${variant.name}: ${variant.says}, ${seconds} s, load average ${loadavg()[0]?.toFixed(1) ?? ''}`);
    const turns = createTurns<IsolationFigures>(builds, index);
    await turns.take((build) => measureIsolation(variant, seconds, build));
    measured.push({ variant, turns });
  }
  const byLoad = [...Map.groupBy(measured, ({ variant }) => aloneOf(variant)).values()];
  const own = byLoad.map((runs) =>
    runs.flatMap(({ variant: { name }, turns }) => turns.own.map((figures) => ({ name, figures }))),
  );
  const raw = measured.map(({ variant: { name, says }, turns }) => ({ name, says, builds: turns.all }));
  return {
    tables: byLoad.map((runs) => toTable(runs, seconds)),
    raw: { measured: raw },
    targets: byLoad.flatMap(([first], index) => {
      const judge = first?.variant === HEALTHY ? judgeIsolation : judgeNeighbours;
      return judge(own[index] ?? []);
    }),
    compared: measured.flatMap(compare),
  };
};

function toTable(runs: readonly VariantTurns[], seconds: number): Table {
  const { perSecond = NaN, concurrency = NaN } = runs[0]?.variant.load ?? {};
  return {
    title: `Isolation: ${perSecond} deliveries/s and concurrency ${concurrency}, deadline 10 s, ${seconds} s each`,
    columns: [
      ...['run', 'healthy p50 ms', 'p99', 'max', 'p99 ratio', 'report p99', 'undelivered', 'repeated', 'slow share'],
      ...['lists', 'worker CPU s/min', 'ratio', 'Redis CPU s/min', 'ratio'],
    ],
    rows: runs.flatMap(({ variant, turns }) =>
      turns.all.map((run, index) => toRow(variant, run, runs[0]?.turns.all[index]?.rounds[0])),
    ),
    notes: [
      ...runs.map(({ variant: { name, says } }) => `${name}: ${says}`),
      'Latency: created_at to arrival, in whole ms, of the deliveries to healthy receivers; undelivered: not there 5 s after the load.',
      'Slow share: requests that late receivers had open, of those that their limits and their load allow. Lists: answered, refused.',
    ],
  };
}

function toRow(
  variant: Variant,
  { rounds, title }: BuildRounds<IsolationFigures>,
  alone: IsolationFigures | undefined,
): Cell[] {
  const { name } = variant;
  const [figures] = rounds;
  if (!figures) throw new Error(`${name} was not measured`);
  const { p50Ms, p99Ms, maxMs, reportP99Ms, undelivered, repeated, slowShare, lists, workerCpu, redisCpu } = figures;
  const ratio = (read: (of: IsolationFigures) => number) =>
    alone && aloneOf(variant) !== variant ? read(figures) / read(alone) : NaN;
  return [
    ...[title(name), p50Ms, p99Ms, maxMs, ratio((of) => of.p99Ms), reportP99Ms],
    ...[`${undelivered} of ${figures.healthy}`, String(repeated), slowShare ?? NaN],
    lists ? `${lists.answered}, ${lists.refused}` : NaN,
    ...[workerCpu, ratio((of) => of.workerCpu), redisCpu, ratio((of) => of.redisCpu)],
  ];
}

function compare({ variant: { name }, turns }: VariantTurns) {
  return [
    ...turns.compare(`isolation, ${name}: p99 ms`, ({ p99Ms }) => p99Ms),
    ...turns.compare(`isolation, ${name}: worker CPU s/min`, ({ workerCpu }) => workerCpu),
    ...turns.compare(`isolation, ${name}: Redis CPU s/min`, ({ redisCpu }) => redisCpu),
  ];
}

type IsolationFigures = {
  /** Latency of deliveries to healthy receivers; Infinity when too many didn't arrive. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** From the call of a report for them to its answer. */
  readonly reportP99Ms: number;
  /** Deliveries to healthy receivers, without those of the burst. */
  readonly healthy: number;
  /** Those that hadn't arrived 5 s after the end of the load. */
  readonly undelivered: number;
  /** Requests beyond the first for a delivery to a healthy receiver. */
  readonly repeated: number;
  /** Requests that late receivers had open, as a share of those that their limits and their load allow. */
  readonly slowShare?: number;
  /** Answers to the neighbour's lists: 2xx, and others. */
  readonly lists?: { readonly answered: number; readonly refused: number };
  /** CPU seconds per minute of load. */
  readonly workerCpu: number;
  readonly redisCpu: number;
  readonly apiCpu: number;
};

/** Receivers of one workspace, as many as it may have. */
const RECEIVERS = 10;
const DEADLINE = '10s';
/** Sends in flight that a receiver may have, by default. */
const RECEIVER_LIMIT = 50;
const TASKS = 100;
const CONNECTIONS = 16;
const LIST_CONNECTIONS = 50;
const GRACE_MS = 5_000;
const WARM_UP_MS = 3_000;
/** Start of a burst, as a share of the load's duration. */
const BURST_AT = 0.1;
const BURST_TASKS = 100;
/** Deliveries of the workspace that asks for lists. */
const LISTED = 3_000;
/** Addresses of the hosts with one delivery each. Each port of an address is a host. */
const ADDRESSES = Array.from({ length: 100 }, (_, index) => `127.1.0.${index + 1}`);

/**
 * One run with its own Redis, API, worker and receivers. Latency is from `created_at` to the arrival of the headers.
 */
async function measureIsolation(variant: Variant, seconds: number, build: Build): Promise<IsolationFigures> {
  const { behaviours, others = [], waiting, burst, load } = variant;
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  const served = [...behaviours, ...others, ...behavioursBeside(variant)];
  const hasGroups = waiting?.of === 'groups';
  await using receivers = await startReceivers({
    ca,
    behaviours: served,
    recordArrivals: true,
    ...(hasGroups && { moreAddresses: ADDRESSES }),
  });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, planWorkspaces(variant, receivers));
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS });
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(executor, starts, { batch: 100, width: 2 });
  const [main = { id: '', key: '', taskIds: [] }, ...rest] = workspaces;
  const burstTasks = main.taskIds.slice(0, BURST_TASKS);
  const mainTasks = main.taskIds.slice(BURST_TASKS);
  if (others.length === 0) await reportBefore(executor, variant, rest);

  const worker = await startWorker({
    env,
    variables: { CONCURRENCY: String(load.concurrency), DELIVERY_TIMEOUT: DEADLINE },
  });
  try {
    if (burst?.when === 'before') await sendBurst(executor, burstTasks, burst.count);
    const everyMs = (1_000 / load.perSecond) * RECEIVERS;
    const otherTasks = others.length === 0 ? [] : interleave(rest.map(({ taskIds }) => taskIds));
    const send = async (durationMs: number, name: string) => {
      const toMain = sendLoad(executor, mainTasks, { everyMs, durationMs, name });
      const toOthers = sendLoad(executor, otherTasks, { everyMs: everyMs * 2, durationMs, name });
      return { main: await toMain, others: await toOthers };
    };
    // Connections, JIT; what is late has answered, and has as many requests open as it may.
    await send(WARM_UP_MS + 2 * Math.max(0, ...others.map(lateMs)), 'warm');
    await using lists = startLists(variant, api.port, rest[0]);
    const readCpu = startCpuReading({ worker: worker.pid, redis: redis.pid, api: api.pid });
    const before = await receivers.read();
    const from = Date.now();
    const bursting =
      burst?.when === 'during'
        ? pause(seconds * 1_000 * BURST_AT).then(() => sendBurst(executor, burstTasks, burst.count))
        : undefined;
    const answers = await send(seconds * 1_000, 'load');
    const lastedMs = Date.now() - from;
    const after = await receivers.read();
    await bursting;
    const cpuMs = readCpu();
    const minutes = (Date.now() - from) / 60_000;
    const listed = lists?.counts();

    // The receiver of a burst is healthy in `healthy-burst`, but its deliveries wait for its own burst.
    const isCounted = (index: number) =>
      index < behaviours.length && behaviours[index] === 'ok' && !(burst && index === 0);
    const healthy = answers.main.length * behaviours.filter((_, index) => isCounted(index)).length;
    const { latenciesMs, repeated } = await waitForHealthy(receivers, from, isCounted, healthy);
    const undelivered = healthy - latenciesMs.length;
    // A missing delivery counts as infinite: without it the worst run would look good.
    const all = [...latenciesMs.sort((a, b) => a - b), ...new Array<number>(undelivered).fill(Infinity)];
    const late = served.flatMap((behaviour, index) =>
      lateMs(behaviour) === 0
        ? []
        : [{ lateMs: lateMs(behaviour), heldMs: (after[index]?.heldMs ?? 0) - (before[index]?.heldMs ?? 0) }],
    );
    // Each workspace gets as much as the others, and each of its receivers all of that.
    const perSecondOfLate = answers.others.length / (lastedMs / 1_000) / rest.length;
    const mayHold = ({ lateMs }: { lateMs: number }) =>
      lastedMs * Math.min(RECEIVER_LIMIT, (perSecondOfLate * lateMs) / 1_000);
    return {
      p50Ms: percentile(all, 0.5),
      p99Ms: percentile(all, 0.99),
      maxMs: all.at(-1) ?? NaN,
      reportP99Ms: percentile(
        answers.main.toSorted((a, b) => a - b),
        0.99,
      ),
      healthy,
      undelivered,
      repeated,
      ...(late.length > 0 && {
        slowShare: sum(late.map(({ heldMs }) => heldMs)) / sum(late.map(mayHold)),
      }),
      ...(listed && { lists: listed }),
      workerCpu: cpuMs.worker / 1_000 / minutes,
      redisCpu: cpuMs.redis / 1_000 / minutes,
      apiCpu: cpuMs.api / 1_000 / minutes,
    };
  } finally {
    worker.kill('SIGKILL'); // an orderly stop would wait for the sends that hang
    await worker.exited;
  }
}

const lateMs = (behaviour: Behaviour): number => (typeof behaviour === 'number' ? behaviour : 0);
const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

/** The hosts of the callbacks, of what waits and of the lists. */
function behavioursBeside({ deadCallbacks, waiting, listsPerSecond }: Variant): Behaviour[] {
  if (deadCallbacks !== undefined) return ['hang'];
  if (waiting?.of === 'groups') return new Array<Behaviour>(Math.ceil(waiting.count / ADDRESSES.length)).fill('ok');
  return waiting || listsPerSecond !== undefined ? new Array<Behaviour>(RECEIVERS).fill('ok') : [];
}

function planWorkspaces(variant: Variant, { origins }: Receivers): WorkspacePlan[] {
  const { behaviours, sharesHost = false, others = [], deadCallbacks, waiting, listsPerSecond } = variant;
  const toReceiver = (origin: string, index: number) => ({
    url: sharesHost && index === 0 ? `${origins[1] ?? ''}${RETRY_AFTER_PATH}` : `${origin}/hook`,
    // Only the first receiver subscribes to the event of bursts.
    events: index === 0 ? ['task.check_in', 'task.requires_action'] : ['task.check_in'],
  });
  const plans: WorkspacePlan[] = [
    {
      id: 'ws_main',
      receivers: origins.slice(0, behaviours.length).map(toReceiver),
      tasks: TASKS + BURST_TASKS,
    },
  ];
  for (let first = 0; first < others.length; first += RECEIVERS) {
    const from = behaviours.length + first;
    const theirs = origins.slice(from, from + Math.min(RECEIVERS, others.length - first));
    plans.push({
      id: `ws_others${first}`,
      receivers: theirs.map((origin) => ({ url: `${origin}/hook` })),
      tasks: TASKS,
    });
  }
  const beside = origins.slice(behaviours.length + others.length);
  if (deadCallbacks !== undefined) {
    const callbackUrl = (index: number) => `${beside[0] ?? ''}/callbacks/${index}`;
    plans.push({ id: 'ws_beside', receivers: [], tasks: deadCallbacks, callbackUrl });
  } else if (waiting?.of === 'groups') {
    const callbackUrl = (index: number) => {
      const url = new URL(beside[Math.floor(index / ADDRESSES.length)] ?? '');
      url.hostname = ADDRESSES[index % ADDRESSES.length] ?? '';
      return url.href;
    };
    plans.push({ id: 'ws_beside', receivers: [], tasks: waiting.count, callbackUrl });
  } else if (waiting || listsPerSecond !== undefined) {
    const receivers = beside.map((origin) => ({ url: `${origin}/hook` }));
    plans.push({ id: 'ws_beside', receivers, tasks: TASKS });
  }
  return plans;
}

/** What the neighbours have reported before the load. */
async function reportBefore(
  executor: ApiClient,
  { deadCallbacks, waiting, listsPerSecond }: Variant,
  [beside]: readonly PreparedWorkspace[],
): Promise<void> {
  if (!beside) return;
  const { taskIds } = beside;
  const isOfTasks = deadCallbacks !== undefined || waiting?.of === 'groups';
  const deliveries = listsPerSecond === undefined ? (waiting?.count ?? 0) : LISTED;
  const count = isOfTasks ? taskIds.length : Math.ceil(deliveries / RECEIVERS);
  const items = Array.from({ length: count }, (_, index): ReportedItem => ({
    taskId: taskIds[index % taskIds.length] ?? '',
    report: checkIn(`before${index}`),
  }));
  await reportInBatches(executor, items, { batch: 100, width: 2 });
}

/** One of each in turn. */
function interleave(lists: readonly (readonly string[])[]): readonly string[] {
  return (lists[0] ?? []).flatMap((_, index) => lists.flatMap((list) => list[index] ?? []));
}

/**
 * Reports check-ins at a steady pace, in turn for every Task, without waiting for answers.
 * @returns for each transition, how long its answer took in ms
 */
async function sendLoad(
  executor: ApiClient,
  taskIds: readonly string[],
  { everyMs, durationMs, name }: { readonly everyMs: number; readonly durationMs: number; readonly name: string },
): Promise<readonly number[]> {
  if (taskIds.length === 0) return [];
  const tookMs: number[] = [];
  await atPace(everyMs, Math.ceil(durationMs / everyMs), async (index) => {
    const startedAt = performance.now();
    const taskId = taskIds[index % taskIds.length] ?? '';
    await report(executor, { taskId, report: checkIn(`${name}${index}`) });
    tookMs.push(performance.now() - startedAt);
  });
  return tookMs;
}

/** Each goes only to the first receiver. */
async function sendBurst(executor: ApiClient, taskIds: readonly string[], count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index): ReportedItem => ({
    taskId: taskIds[index % taskIds.length] ?? '',
    report: actionRequired(Math.floor(index / taskIds.length) + 1),
  }));
  await reportInBatches(executor, items, { batch: 100, width: 1 });
}

/** Asks for lists of failed deliveries at a steady pace until it is disposed of. */
function startLists({ listsPerSecond }: Variant, port: number, beside: PreparedWorkspace | undefined) {
  if (listsPerSecond === undefined || !beside) return undefined;
  const client = openApiClient({ port, key: beside.key, connections: LIST_CONNECTIONS });
  const counts = { answered: 0, refused: 0 };
  const timer = setInterval(() => {
    client.call('GET', '/api/public/deliveries?status=failed').then(
      () => counts.answered++,
      () => counts.refused++,
    );
  }, 1_000 / listsPerSecond);
  return {
    counts: () => ({ ...counts }),
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await client[Symbol.asyncDispose]();
    },
  };
}

type Arrived = { readonly latenciesMs: number[]; readonly repeated: number };

/** Arrivals at the counted receivers of events created since `from`, when all are there or the grace period is over. */
async function waitForHealthy(
  receivers: Receivers,
  from: number,
  isCounted: (index: number) => boolean,
  expected: number,
): Promise<Arrived> {
  const read = async (): Promise<Arrived> => {
    const states = (await receivers.read()).filter((_, index) => isCounted(index));
    const arrivals = states.flatMap((state) => state.arrivals ?? []).filter(([createdAt]) => createdAt >= from);
    return {
      latenciesMs: arrivals.map(([createdAt, arrivedAt]) => arrivedAt - createdAt),
      repeated: states.reduce((total, { requests, deliveries }) => total + requests - deliveries, 0),
    };
  };
  const until = ({ latenciesMs }: Arrived) => latenciesMs.length >= expected;
  return await waitFor('healthy deliveries', read, { until, deadlineMs: GRACE_MS }).catch(read);
}
