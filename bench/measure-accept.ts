import { createCertificateAuthority, waitFor, type RunningRedis } from '@herald/test-kit';
import { forEachOf, openApiClient, type ApiClient } from './api-client.ts';
import type { Build } from './builds.ts';
import { startCpuReading } from './cpu-time.ts';
import { checkIn, report, reportInBatches, START, type ReportedItem } from './executor.ts';
import { prepareWorkspaces } from './prepare-workspaces.ts';
import { startProgram } from './run-program.ts';
import { startBenchRedis, type Fsync } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, type HeraldEnv } from './start-herald.ts';

export type BareRouteInput = { readonly redisUrl: string; readonly fanOut: number };

const TASKS = 2_000;
/** Transitions of one measurement. Before it, a fifth as many warm the process up. */
export const SINGLES = 5_000;
export const BATCHED = 10_000;
export const WARM_UP = 0.2;
export const BATCH = 100;
export const CONNECTIONS = { single: 32, batch: 8 };

export type Accepted = {
  readonly perSecond: number;
  readonly cpuUs: { readonly api: number; readonly redis: number };
  /** Reports that were made, those that warmed it up included. */
  readonly reports: number;
};

/** An Express route that only runs a script. */
export async function measureBareRoute(fanOut: number): Promise<Accepted> {
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

export type ApiPlan = {
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
