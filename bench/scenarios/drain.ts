import { createCertificateAuthority, waitFor, type RunningRedis } from '@herald/test-kit';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiClient } from '../api-client.ts';
import { startCpuReading } from '../cpu-time.ts';
import { checkIn, DONE, reportInBatches, START, type Report, type ReportedItem } from '../executor.ts';
import { FAST_RECEIVERS, measureFloor, type FloorRound, type Pace } from '../floor.ts';
import { floorRows, PACE_COLUMNS, paceRow } from '../floor-rows.ts';
import { prepareWorkspaces, type WorkspacePlan } from '../prepare-workspaces.ts';
import { profilerArgs, profileTable, type ProfiledProcess } from '../profile.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker, type HeraldEnv } from '../start-herald.ts';
import { startReceivers, type Receivers } from '../start-receivers.ts';
import { median } from '../statistics.ts';

const RECEIVERS_PER_WORKSPACE = 10;
const WORKSPACES = FAST_RECEIVERS / RECEIVERS_PER_WORKSPACE;
/** What one Task does; all but the start are delivered. */
const LIFE: readonly Report[] = [START, checkIn(1), checkIn(2), checkIn(3), DONE];
const DELIVERIES_PER_TASK = (LIFE.length - 1) * RECEIVERS_PER_WORKSPACE;
const DRAIN_DEADLINE_MS = 600_000;

type Drained = Pace & { readonly duplicates: number; readonly acceptedPerSecond: number };

/** Everything is accepted while no worker runs; then one worker process sends it, as fast as it can. */
export const drain: Scenario = async ({ options, say }) => {
  const tasksPerWorkspace = Math.max(1, Math.round(options.count / DELIVERIES_PER_TASK / WORKSPACES));
  const count = tasksPerWorkspace * WORKSPACES * DELIVERIES_PER_TASK;
  const floors: FloorRound[] = [];
  const drains: Drained[] = [];
  for (let round = 1; round <= options.repeats; round++) {
    say(`floor, round ${round} of ${options.repeats}`);
    floors.push(await measureFloor(count));
    say(`drain, round ${round} of ${options.repeats}`);
    drains.push(await measureDrain({ tasksPerWorkspace, count, logLevel: 'warn', profileWorker: false }));
  }
  say('drain, writing its log');
  const logged = await measureDrain({ tasksPerWorkspace, count, logLevel: 'info', profileWorker: false });
  const profiles: ProfiledProcess[] = [];
  if (options.profile) {
    say('drain, profiled');
    await measureDrain({ tasksPerWorkspace, count, logLevel: 'warn', profileWorker: true });
    profiles.push({ name: 'worker', scenario: 'drain', items: count });
  }
  const floor = median(floors.map(({ composed }) => composed.perSecond));
  const byCpu = median(drains.map(({ cpuUs }, index) => (floors[index]?.composed.cpuUs.worker ?? NaN) / cpuUs.worker));
  const duplicates = [...drains, logged].reduce((sum, drained) => sum + drained.duplicates, 0);
  const table = {
    title: `Drain: ${count} deliveries to ${FAST_RECEIVERS} receivers, one worker, median of ${options.repeats}`,
    columns: PACE_COLUMNS,
    rows: [
      ...floorRows(floors),
      paceRow(
        'drain',
        drains,
        drains.map(({ perSecond }, index) => perSecond / (floors[index]?.composed.perSecond ?? NaN)),
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
    raw: { floors, drains, logged },
  };
};

type DrainPlan = {
  readonly tasksPerWorkspace: number;
  readonly count: number;
  readonly logLevel: 'warn' | 'info';
  readonly profileWorker: boolean;
};

async function measureDrain(plan: DrainPlan): Promise<Drained> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAST_RECEIVERS).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(redis.url, ca);
  const acceptedPerSecond = await acceptAll(plan, redis, receivers, env);
  const folder = await mkdtemp(join(tmpdir(), 'herald-bench-log-'));
  try {
    await using worker = await startWorker({
      env,
      variables: { LOG_LEVEL: plan.logLevel },
      ...(plan.logLevel === 'info' && { logFile: join(folder, 'worker.log') }),
      nodeArgs: plan.profileWorker ? await profilerArgs('worker', 'drain') : [],
    });
    const pids = { worker: worker.pid, redis: redis.pid, receiver: receivers.pid };
    return { ...(await watchDrain(receivers, plan.count, pids)), acceptedPerSecond };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Deliveries accepted per second. */
async function acceptAll(
  { tasksPerWorkspace, count }: DrainPlan,
  redis: RunningRedis,
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
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, redis.url, plans);
  const taskIds = Array.from({ length: tasksPerWorkspace }, (_, index) =>
    workspaces.map((workspace) => workspace.taskIds[index] ?? ''),
  ).flat();
  const items = taskIds.flatMap((taskId): ReportedItem[] => LIFE.map((report) => ({ taskId, report })));
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: 2 });
  const startedAt = performance.now();
  await reportInBatches(executor, items, { batch: 500, width: 2 });
  return count / ((performance.now() - startedAt) / 1_000);
}

type Pids = Readonly<Record<'worker' | 'redis' | 'receiver', number>>;

/** CPU is counted from the first arrival that is seen, so that the worker's start is not in it. */
async function watchDrain(receivers: Receivers, count: number, pids: Pids): Promise<Pace & { duplicates: number }> {
  const seenFirst = await waitFor('the first delivery', receivers.count, { until: (seen) => seen > 0 });
  const readCpu = startCpuReading(pids);
  const deadlineMs = DRAIN_DEADLINE_MS;
  const seenLast = await waitFor('all deliveries', receivers.count, { until: (seen) => seen >= count, deadlineMs });
  const cpuMs = readCpu();
  const states = await receivers.read();
  const seconds = (Math.max(...states.map((s) => s.lastAt)) - Math.min(...states.map((s) => s.firstAt))) / 1_000;
  const toUs = (ms: number) => (ms * 1_000) / (seenLast - seenFirst);
  return {
    perSecond: count / seconds,
    cpuUs: { worker: toUs(cpuMs.worker), redis: toUs(cpuMs.redis), receiver: toUs(cpuMs.receiver) },
    duplicates: states.reduce((sum, { requests, deliveries }) => sum + requests - deliveries, 0),
  };
}
