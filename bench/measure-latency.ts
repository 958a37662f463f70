import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { openApiClient } from './api-client.ts';
import { atPace } from './at-pace.ts';
import type { Build } from './builds.ts';
import { checkIn, report, reportInBatches, START, type ReportedItem } from './executor.ts';
import { prepareWorkspaces, type WorkspacePlan } from './prepare-workspaces.ts';
import { runProgram } from './run-program.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers, type Receivers } from './start-receivers.ts';

/** A steady load. With more receivers than the fan-out, each event goes to some of them, in turn. */
export type LatencyLoad = {
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
export type Latencies = Readonly<Record<'floor' | 'warmUp' | 'fromReport' | 'fromAnswer', readonly number[]>>;

/**
 * Lasts until about 10,000 transitions: around then, processes once use more CPU for a second (docs/performance.md,
 * "The first 20 seconds").
 */
export const WARM_UP_SECONDS = 25;
const FLOOR_WARM_UP_SECONDS = 3;
const TASKS = 200;
const CONNECTIONS = 16;
const ARRIVAL_DEADLINE_MS = 120_000;

export type LatencyMeasurement = {
  readonly load: LatencyLoad;
  readonly seconds: number;
  readonly build: Build;
  /** Of API and worker. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Between the warm-up and the load. */
  readonly beforeLoad?: () => Promise<unknown>;
};

export async function measureLatency(measurement: LatencyMeasurement): Promise<Latencies> {
  const { load, seconds, build, variables = {}, beforeLoad } = measurement;
  const { fanOut } = load;
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({
    ca,
    behaviours: new Array(load.receivers).fill('ok') as 'ok'[],
    recordArrivals: true,
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
  const floor = await latenciesSince(receivers, new Map(posted.slice(floorWarmUp * fanOut)), 1);

  await using running = new AsyncDisposableStack();
  const api = running.use(await startApi({ env, variables }));
  running.use(await startWorker({ env, variables }));
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
  const warmUp = await latenciesSince(receivers, answeredAt, fanOut);
  reportedAt.clear();
  answeredAt.clear();
  await beforeLoad?.();
  await send('load', count);
  const fromReport = await latenciesSince(receivers, reportedAt, fanOut);
  const fromAnswer = await latenciesSince(receivers, answeredAt, fanOut);
  return { floor, warmUp, fromReport, fromAnswer };
}

/** Registered receivers get the events of every Task; a callback only those of its own. */
function planWorkspace({ fanOut }: LatencyLoad, urls: readonly string[]): WorkspacePlan {
  const plan = { id: 'ws_bench', tasks: TASKS };
  if (urls.length === fanOut) return { ...plan, receivers: urls.map((url) => ({ url })) };
  if (fanOut !== 1) throw new Error('a Task has one callback');
  return { ...plan, receivers: [], callbackUrl: (index) => urls[index % urls.length] ?? '' };
}

/** Waits until all have arrived. */
async function latenciesSince(
  receivers: Receivers,
  since: ReadonlyMap<string, number>,
  fanOut: number,
): Promise<readonly number[]> {
  const read = async () =>
    (await receivers.read()).flatMap(({ arrivals = [] }) =>
      arrivals.flatMap(([, arrivedAt, id]) => {
        const at = since.get(id);
        return at === undefined ? [] : [Math.max(0, arrivedAt - at)];
      }),
    );
  const until = ({ length }: readonly number[]) => length >= since.size * fanOut;
  const latencies = await waitFor('all arrivals', read, { until, deadlineMs: ARRIVAL_DEADLINE_MS });
  return latencies.sort((a, b) => a - b);
}
