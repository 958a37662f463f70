import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { openApiClient, type ApiClient } from './api-client.ts';
import type { Build } from './builds.ts';
import { startCpuReading } from './cpu-time.ts';
import { actionRequired, checkIn, report, reportInBatches, START, type ReportedItem } from './executor.ts';
import type { Variant } from './isolation-variants.ts';
import { prepareWorkspaces, type WorkspacePlan } from './prepare-workspaces.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers, type Receivers } from './start-receivers.ts';
import { percentile } from './statistics.ts';

export type IsolationFigures = {
  /** Latency of deliveries to healthy receivers; Infinity when too many didn't arrive. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Deliveries to healthy receivers, without those of the burst. */
  readonly healthy: number;
  /** Those that hadn't arrived 5 s after the end of the load. */
  readonly undelivered: number;
  /** Requests beyond the first for a delivery to a healthy receiver. */
  readonly repeated: number;
  /** CPU seconds per minute of load. */
  readonly workerCpu: number;
  readonly redisCpu: number;
  readonly apiCpu: number;
};

const DELIVERIES_PER_SECOND = 200;
const CONCURRENCY = 50;
/** Receivers of one workspace, as many as it may have. */
const RECEIVERS = 10;
const DEADLINE = '10s';
const TASKS = 100;
const CONNECTIONS = 16;
const GRACE_MS = 5_000;
const WARM_UP_MS = 3_000;
/** Start of a burst, as a share of the load's duration. */
const BURST_AT = 0.1;
const BURST_TASKS = 100;

/**
 * One run with its own Redis, API, worker and receivers. Latency is from `created_at` to the arrival of the headers.
 */
export async function measureIsolation(variant: Variant, seconds: number, build: Build): Promise<IsolationFigures> {
  const { behaviours, others = [], perSecond = DELIVERIES_PER_SECOND, concurrency = CONCURRENCY } = variant;
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  const served = [...behaviours, ...others, ...(variant.deadCallbacks === undefined ? [] : (['hang'] as const))];
  await using receivers = await startReceivers({ ca, behaviours: served, recordArrivals: true });
  await using env = await createHeraldEnv(redis.url, ca, build);
  await using api = await startApi({ env });
  const worker = await startWorker({
    env,
    variables: { CONCURRENCY: String(concurrency), DELIVERY_TIMEOUT: DEADLINE },
  });
  try {
    const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, planWorkspaces(variant, receivers));
    await using executor = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS });
    const [main = { taskIds: [] }, ...rest] = workspaces;
    const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
    const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
    await reportInBatches(executor, starts, { batch: 100, width: 2 });

    const burstTasks = main.taskIds.slice(0, BURST_TASKS);
    const mainTasks = main.taskIds.slice(BURST_TASKS);
    // Every second transition is one of the first workspace.
    const loadTasks = others.length > 0 ? rest.flatMap(({ taskIds }) => [mainTasks, taskIds]) : [mainTasks];
    if (others.length === 0) for (const { taskIds } of rest) await reportCallbacks(executor, taskIds);
    const send = (durationMs: number, name: string) => sendLoad(executor, loadTasks, { perSecond, durationMs, name });
    if (variant.burst?.when === 'before') await sendBurst(executor, burstTasks, variant.burst.count);
    await send(WARM_UP_MS, 'warm'); // connections, JIT
    const readCpu = startCpuReading({ worker: worker.pid, redis: redis.pid, api: api.pid });
    const from = Date.now();
    const burst =
      variant.burst?.when === 'during'
        ? pause(seconds * 1_000 * BURST_AT).then(() => sendBurst(executor, burstTasks, variant.burst?.count ?? 0))
        : undefined;
    const transitions = await send(seconds * 1_000, 'load');
    await burst;
    const cpuMs = readCpu();
    const minutes = (Date.now() - from) / 60_000;

    // The receiver of a burst is healthy in `healthy-burst`, but its deliveries wait for its own burst.
    const isCounted = (index: number) => served[index] === 'ok' && !(variant.burst && index === 0);
    const ofMain = transitions
      .filter((_, index) => loadTasks[index] === mainTasks)
      .reduce((sum, each) => sum + each, 0);
    const healthy = ofMain * behaviours.filter((_, index) => isCounted(index)).length;
    const { latenciesMs, repeated } = await waitForHealthy(receivers, from, isCounted, healthy);
    const undelivered = healthy - latenciesMs.length;
    // A missing delivery counts as infinite: without it the worst run would look good.
    const all = [...latenciesMs.sort((a, b) => a - b), ...new Array<number>(undelivered).fill(Infinity)];
    return {
      p50Ms: percentile(all, 0.5),
      p99Ms: percentile(all, 0.99),
      maxMs: all.at(-1) ?? NaN,
      healthy,
      undelivered,
      repeated,
      workerCpu: cpuMs.worker / 1_000 / minutes,
      redisCpu: cpuMs.redis / 1_000 / minutes,
      apiCpu: cpuMs.api / 1_000 / minutes,
    };
  } finally {
    worker.kill('SIGKILL'); // an orderly stop would wait for the sends that hang
    await worker.exited;
  }
}

function planWorkspaces({ behaviours, others = [], deadCallbacks }: Variant, { origins }: Receivers): WorkspacePlan[] {
  const toReceiver = (origin: string, index: number) => ({
    url: `${origin}/hook`,
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
    plans.push({ id: `ws_others${first}`, receivers: theirs.map(toReceiver), tasks: TASKS });
  }
  if (deadCallbacks !== undefined) {
    const callbackUrl = (index: number) => `${origins.at(-1) ?? ''}/callbacks/${index}`;
    plans.push({ id: 'ws_callbacks', receivers: [], tasks: deadCallbacks, callbackUrl });
  }
  return plans;
}

/**
 * Reports check-ins at a steady pace, in turn for every group of Tasks, without waiting for answers.
 * @returns transitions accepted, by group
 */
async function sendLoad(
  executor: ApiClient,
  groups: readonly (readonly string[])[],
  { perSecond, durationMs, name }: { readonly perSecond: number; readonly durationMs: number; readonly name: string },
): Promise<readonly number[]> {
  const everyMs = (1_000 / perSecond) * RECEIVERS;
  const accepted = groups.map(() => 0);
  const underWay: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index * everyMs < durationMs; index++) {
    const waitMs = startedAt + index * everyMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    const group = index % groups.length;
    const taskIds = groups[group] ?? [];
    const taskId = taskIds[Math.floor(index / groups.length) % taskIds.length] ?? '';
    const sent = report(executor, { taskId, report: checkIn(`${name}${index}`) });
    underWay.push(
      sent.then(() => {
        accepted[group] = (accepted[group] ?? 0) + 1;
      }),
    );
  }
  await Promise.all(underWay);
  return accepted;
}

/** Each goes only to the first receiver. */
async function sendBurst(executor: ApiClient, taskIds: readonly string[], count: number): Promise<void> {
  const items = Array.from({ length: count }, (_, index): ReportedItem => ({
    taskId: taskIds[index % taskIds.length] ?? '',
    report: actionRequired(Math.floor(index / taskIds.length) + 1),
  }));
  await reportInBatches(executor, items, { batch: 100, width: 1 });
}

async function reportCallbacks(executor: ApiClient, taskIds: readonly string[]): Promise<void> {
  const items = taskIds.map((taskId): ReportedItem => ({ taskId, report: checkIn('callback') }));
  await reportInBatches(executor, items, { batch: 100, width: 2 });
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
      repeated: states.reduce((sum, { requests, deliveries }) => sum + requests - deliveries, 0),
    };
  };
  const until = ({ latenciesMs }: Arrived) => latenciesMs.length >= expected;
  return await waitFor('healthy deliveries', read, { until, deadlineMs: GRACE_MS }).catch(read);
}
