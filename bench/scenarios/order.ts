import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import {
  atPace,
  checkIn,
  DONE,
  openApiClient,
  reportBatch,
  type ReportedItem,
  reportInBatches,
  START,
} from '../clients.ts';
import { prepareWorkspaces, type WorkspacePlan } from '../prepare-workspaces.ts';
import type { Scenario } from '../run-scenarios.ts';
import { createHeraldEnv, startApi, startBenchRedis, startWorker } from '../start-herald.ts';
import { type Receivers, startReceivers } from '../start-receivers.ts';
import { type Cell, percentile } from '../table.ts';
import { judgeOnce } from '../targets.ts';
import { readRedisMemory } from '../usage.ts';

const SHARES = [0.5, 0.9, 0.99, 1] as const;
const sharesOf = (sorted: readonly number[]) => SHARES.map((share) => percentile(sorted, share));

/** Events of one Task in order, for very many receivers. */
export const order: Scenario = async ({ options: { seconds }, say }) => {
  const measure = async (ordering: Ordering) => {
    say(`order, ordering ${ordering}, ${seconds} s`);
    return await measureOrder(ordering, seconds);
  };
  const without = await measure('none');
  const ordered = await measure('task');
  const toRows = (name: string, { first, last, broken, linesLeft }: OrderFigures): Cell[][] => [
    [`${name}, first event of a Task`, first.length, ...sharesOf(first), broken, linesLeft],
    [`${name}, third event`, last.length, ...sharesOf(last), broken, linesLeft],
  ];
  const table = {
    title: `Order: ${RECEIVERS} receivers, ${DELIVERIES_PER_SECOND} deliveries/s, ms from the 2xx to the arrival, ${seconds} s`,
    columns: ['ordering', 'deliveries', 'p50', 'p90', 'p99', 'max', 'out of order', 'lines left'],
    rows: [...toRows('none', without), ...toRows('task', ordered)],
    notes: [
      'Three events of a Task are reported in one batch, to ten receivers of its workspace. With order, the second and the third wait until the one before is settled.',
    ],
  };
  const p99Of = ({ first }: OrderFigures) => percentile(first, 0.99);
  return {
    tables: [table],
    raw: { without: toRows('none', without), ordered: toRows('task', ordered) },
    targets: [
      judgeOnce('orderP99', 'order: p99 of the first events of Tasks, ms', p99Of(ordered), p99Of(without)),
      judgeOnce('orderBroken', 'order: events that arrived out of order', ordered.broken, without.broken),
      judgeOnce('orderBroken', 'order: lines left in Redis', ordered.linesLeft),
    ],
  };
};

type Ordering = 'none' | 'task';
type OrderFigures = {
  /** From the 2xx to the arrival of the first event of each Task, sorted, in ms. */
  readonly first: readonly number[];
  /** The same of the last one, which waits for the others. */
  readonly last: readonly number[];
  /** Pairs of events of one Task that arrived at a receiver the wrong way round. */
  readonly broken: number;
  /** Keys of lines that are left in the end. */
  readonly linesLeft: number;
};

const WORKSPACES = 100;
const RECEIVERS_PER_WORKSPACE = 10;
const RECEIVERS = WORKSPACES * RECEIVERS_PER_WORKSPACE;
const DELIVERIES_PER_SECOND = 500;
const MOST_TASKS_PER_WORKSPACE = 100;
/** What is reported of a Task together: each waits for the one before. */
const EVENTS = [checkIn(1), checkIn(2), DONE];
const EVERY_MS = (1_000 * EVENTS.length * RECEIVERS_PER_WORKSPACE) / DELIVERIES_PER_SECOND;
const WARM_UP_SECONDS = 25;
const CONNECTIONS = 16;
const ARRIVAL_DEADLINE_MS = 120_000;

/** Deliveries of Tasks to receivers with and without order, after a warm-up. */
async function measureOrder(ordering: Ordering, seconds: number): Promise<OrderFigures> {
  const ca = await createCertificateAuthority();
  await using redis = await startBenchRedis();
  await using receivers = await startReceivers({
    ca,
    behaviours: new Array(RECEIVERS_PER_WORKSPACE).fill('ok') as 'ok'[],
    recordArrivals: true,
  });
  await using env = await createHeraldEnv(redis.url, ca);
  const warmUps = Math.round((WARM_UP_SECONDS * 1_000) / EVERY_MS);
  const measured = Math.round((seconds * 1_000) / EVERY_MS);
  const tasks = Math.ceil((warmUps + measured) / WORKSPACES);
  if (tasks > MOST_TASKS_PER_WORKSPACE) throw new Error(`${seconds} s need more than 100 Tasks of a receiver`);
  await using running = new AsyncDisposableStack();
  const api = running.use(await startApi({ env }));
  running.use(await startWorker({ env }));
  const plans = Array.from({ length: WORKSPACES }, (_, index): WorkspacePlan => {
    const own = receivers.origins.map((origin) => ({ url: `${origin}/hook`, ordering }));
    return { id: `ws_bench${index}`, receivers: own, tasks };
  });
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, plans);
  await using executor = openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS });
  // The Tasks of all workspaces in turn.
  const taskIds = Array.from({ length: tasks }, (_, index) =>
    workspaces.map((each) => each.taskIds[index] ?? ''),
  ).flat();
  const starts = taskIds.map((taskId): ReportedItem => ({ taskId, report: START }));
  await reportInBatches(executor, starts, { batch: 500, width: 2 });

  const answered = new Map<string, { readonly at: number; readonly place: number; readonly task: string }>();
  let reported = 0;
  const send = (count: number) =>
    atPace(EVERY_MS, count, async () => {
      const task = taskIds[reported++] ?? '';
      const ids = await reportBatch(
        executor,
        EVENTS.map((report) => ({ taskId: task, report })),
      );
      const at = performance.timeOrigin + performance.now();
      for (const [place, id] of ids.entries()) answered.set(id, { at, place, task });
    });
  await send(warmUps);
  await arriving(receivers, warmUps);
  answered.clear();
  await send(measured);
  await arriving(receivers, warmUps + measured);

  const states = await receivers.read();
  const latencies = EVENTS.map((): number[] => []);
  let broken = 0;
  for (const { arrivals = [] } of states) {
    const lastPlace = new Map<string, number>();
    for (const [, arrivedAt, id] of arrivals) {
      const known = answered.get(id);
      if (!known) continue;
      latencies[known.place]?.push(Math.max(0, arrivedAt - known.at));
      if (known.place !== (lastPlace.get(known.task) ?? -1) + 1) broken++;
      lastPlace.set(known.task, known.place);
    }
  }
  const sorted = latencies.map((each) => each.sort((a, b) => a - b));
  const { kinds } = await readRedisMemory(redis.url);
  const lines = kinds.get('order of a Task (o:<endpoint>:<task>)');
  return { first: sorted[0] ?? [], last: sorted.at(-1) ?? [], broken, linesLeft: lines?.keys ?? 0 };
}

async function arriving(receivers: Receivers, tasks: number): Promise<void> {
  const count = tasks * EVENTS.length * RECEIVERS_PER_WORKSPACE;
  await waitFor('all arrivals', receivers.count, { until: (seen) => seen >= count, deadlineMs: ARRIVAL_DEADLINE_MS });
}
