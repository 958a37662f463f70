import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { openApiClient } from '../api-client.ts';
import { atPace } from '../at-pace.ts';
import { checkIn, report, reportInBatches, START, type ReportedItem } from '../executor.ts';
import { prepareWorkspaces } from '../prepare-workspaces.ts';
import { runProgram } from '../run-program.ts';
import type { Scenario } from '../scenario.ts';
import { startBenchRedis } from '../start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from '../start-herald.ts';
import { startReceivers, type Receivers } from '../start-receivers.ts';
import { median, percentile } from '../statistics.ts';
import type { Cell } from '../table.ts';
import { judgeRounds, type TargetRow } from '../targets.ts';

export type PostAtPaceInput = {
  readonly urls: readonly string[];
  readonly caFile: string;
  readonly everyMs: number;
  /** Each goes to all urls. */
  readonly count: number;
  readonly body: object;
};
/** A request and when it was handed over, epoch ms. */
export type PostedAt = readonly [id: string, at: number];

const FAN_OUTS = [1, 10] as const;
const DELIVERIES_PER_SECOND = 500;
const TASKS = 200;
const CONNECTIONS = 16;
/** Until some 10,000 transitions have passed: about then, once, processes take more of the processors for a second (docs/performance.md, "The first 20 seconds"). */
const WARM_UP_SECONDS = 25;
const FLOOR_WARM_UP_SECONDS = 3;
const ARRIVAL_DEADLINE_MS = 120_000;

type Latencies = Readonly<Record<'floor' | 'warmUp' | 'fromReport' | 'fromAnswer', readonly number[]>>;

/** From the 2xx of a transition to the arrival of its deliveries at their receivers. */
export const latency: Scenario = async ({ options: { seconds, repeats }, say }) => {
  const measured = new Map<number, Latencies[]>();
  for (let round = 1; round <= repeats; round++) {
    for (const fanOut of FAN_OUTS) {
      say(`latency, fan-out ${fanOut}, round ${round} of ${repeats}, ${seconds} s`);
      measured.set(fanOut, [...(measured.get(fanOut) ?? []), await measureLatency(fanOut, seconds)]);
    }
  }
  const rows = [...measured].flatMap(([fanOut, rounds]) => [
    toRow(
      `node:https alone, fan-out ${fanOut}`,
      rounds.map(({ floor }) => floor),
    ),
    toRow(
      `from the 2xx, fan-out ${fanOut}, the ${WARM_UP_SECONDS} s before`,
      rounds.map(({ warmUp }) => warmUp),
    ),
    toRow(
      `from the report, fan-out ${fanOut}`,
      rounds.map(({ fromReport }) => fromReport),
    ),
    toRow(
      `from the 2xx, fan-out ${fanOut}`,
      rounds.map(({ fromAnswer }) => fromAnswer),
    ),
  ]);
  const table = {
    title: `Latency in ms: ${DELIVERIES_PER_SECOND} deliveries/s, ${seconds} s, median of ${repeats}`,
    columns: ['to the arrival of the headers', 'deliveries', 'p50', 'p90', 'p99', 'max'],
    rows,
    notes: [
      'node:https alone: the same bodies at the same pace from a program that does nothing else, to the same receivers.',
      `A delivery may arrive before the executor has its 2xx, and counts as 0 then. Targets are from the 2xx, after processes that were just started have run for ${WARM_UP_SECONDS} s.`,
    ],
  };
  const raw = [...measured].map(([fanOut, rounds]) => ({ fanOut, rounds: rounds.map((round) => summarize(round)) }));
  return { tables: [table], raw: { measured: raw }, targets: [...measured].flatMap(toTargets) };
};

function toTargets([fanOut, rounds]: readonly [number, readonly Latencies[]]): TargetRow[] {
  const judge = (target: 'latencyP50' | 'latencyP99', label: string, share: number) =>
    judgeRounds(
      target,
      `latency: ${label} at ${DELIVERIES_PER_SECOND}/s, fan-out ${fanOut}, ms`,
      rounds.map((round) => ({
        measured: percentile(round.fromAnswer, share),
        floor: percentile(round.floor, share),
      })),
    );
  return [judge('latencyP50', 'p50', 0.5), judge('latencyP99', 'p99', 0.99)];
}

const SHARES = [0.5, 0.9, 0.99, 1] as const;

function toRow(label: string, rounds: readonly (readonly number[])[]): Cell[] {
  const sum = rounds.reduce((all, { length }) => all + length, 0);
  return [label, sum, ...SHARES.map((share) => median(rounds.map((sorted) => percentile(sorted, share))))];
}

function summarize(latencies: Latencies): object {
  return Object.fromEntries(
    Object.entries(latencies).map(([name, sorted]) => [name, SHARES.map((share) => percentile(sorted, share))]),
  );
}

async function measureLatency(fanOut: number, seconds: number): Promise<Latencies> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({
    ca,
    behaviours: new Array(fanOut).fill('ok') as 'ok'[],
    recordArrivals: true,
  });
  await using env = await createHeraldEnv(redis.url, ca);
  const urls = receivers.origins.map((origin) => `${origin}/hook`);
  const everyMs = (1_000 / DELIVERIES_PER_SECOND) * fanOut;
  const count = Math.round((seconds * 1_000) / everyMs);

  const body = { event: 'task.check_in', created_at: new Date().toISOString(), ...checkIn(1) };
  const floorWarmUp = Math.round((FLOOR_WARM_UP_SECONDS * 1_000) / everyMs);
  const input: PostAtPaceInput = { urls, caFile: env.caFile, everyMs, count: floorWarmUp + Math.ceil(count / 3), body };
  const posted = (await runProgram('post-at-pace', input)) as PostedAt[];
  const floor = await latenciesSince(receivers, new Map(posted.slice(floorWarmUp * fanOut)), 1);

  await using running = new AsyncDisposableStack();
  const api = running.use(await startApi({ env }));
  running.use(await startWorker({ env }));
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, redis.url, [
    { id: 'ws_bench', receivers: urls.map((url) => ({ url })), tasks: TASKS },
  ]);
  const taskIds = workspaces.flatMap((workspace) => workspace.taskIds);
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS });
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(executor, starts, { batch: 100, width: 2 });

  const now = () => performance.timeOrigin + performance.now();
  const reportedAt = new Map<string, number>();
  const answeredAt = new Map<string, number>();
  const load = (name: string, transitions: number) =>
    atPace(everyMs, transitions, async (index) => {
      const startedAt = now();
      const id = await report(executor, { taskId: taskIds[index % TASKS] ?? '', report: checkIn(`${name}${index}`) });
      reportedAt.set(id, startedAt);
      answeredAt.set(id, now());
    });
  await load('warm', Math.round((WARM_UP_SECONDS * 1_000) / everyMs)); // connections, JIT
  const warmUp = await latenciesSince(receivers, answeredAt, fanOut);
  reportedAt.clear();
  answeredAt.clear();
  await load('load', count);
  const fromReport = await latenciesSince(receivers, reportedAt, fanOut);
  const fromAnswer = await latenciesSince(receivers, answeredAt, fanOut);
  return { floor, warmUp, fromReport, fromAnswer };
}

/** Sorted, in ms. Waits until all have arrived. */
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
