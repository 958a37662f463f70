import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiClient } from './api-client.ts';
import type { Build } from './builds.ts';
import { startCpuReading } from './cpu-time.ts';
import { checkIn, DONE, reportInBatches, START, type Report, type ReportedItem } from './executor.ts';
import { FAST_RECEIVERS, type Pace } from './floor.ts';
import { prepareWorkspaces, type WorkspacePlan } from './prepare-workspaces.ts';
import { profilerArgs } from './profile.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker, type HeraldEnv } from './start-herald.ts';
import { startReceivers, type Receivers } from './start-receivers.ts';

const RECEIVERS_PER_WORKSPACE = 10;
const WORKSPACES = FAST_RECEIVERS / RECEIVERS_PER_WORKSPACE;
/** The transitions of a Task; all but the start are delivered. */
const LIFE: readonly Report[] = [START, checkIn(1), checkIn(2), checkIn(3), DONE];
const DELIVERIES_PER_TASK = (LIFE.length - 1) * RECEIVERS_PER_WORKSPACE;
const DRAIN_DEADLINE_MS = 600_000;

export type Drained = Pace & { readonly duplicates: number; readonly acceptedPerSecond: number };

export type DrainPlan = {
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
