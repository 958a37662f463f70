import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { closeRedis, connectRedis } from '@herald/store/redis/connect-redis';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { openApiClient } from './api-client.ts';
import { atPace } from './at-pace.ts';
import { readCpuMs } from './cpu-time.ts';
import { checkIn, DONE, reportBatch, START } from './executor.ts';
import { prepareWorkspaces } from './prepare-workspaces.ts';
import { readUsedBytes } from './redis-memory.ts';
import { startBenchHistory } from './start-bench-history.ts';
import { startBenchRedis } from './start-bench-redis.ts';
import { createHeraldEnv, startApi, startWorker } from './start-herald.ts';
import { startReceivers } from './start-receivers.ts';

const FAN_OUT = 10;
export const DELIVERIES_PER_SECOND = 500;
/** Each Task lives for one batch of these. */
const LIFE = [START, checkIn(1), checkIn(2), checkIn(3), DONE];
/** START is told nobody. */
const EVENTS = LIFE.length - 1;
const EVERY_MS = (1_000 / DELIVERIES_PER_SECOND) * EVENTS * FAN_OUT;
const CONNECTIONS = 4;
const SETTLED_DEADLINE_MS = 300_000;
/** How long Redis keeps what has settled, so that it is full after a minute. */
export const KEPT = '1m';

export type HistoryMemory = {
  /** At the end of each tenth of the time: seconds, and Redis' memory in MiB. */
  readonly samples: readonly { readonly atSeconds: number; readonly MiB: number; readonly waiting: number }[];
  readonly deliveries: number;
  /** In the history in the end. */
  readonly rows: number;
  /** Share of a core. */
  readonly workerCpu: number;
};

/** Tasks come and end while their deliveries move to the history, for so long. */
export async function measureHistoryMemory(seconds: number, say: (line: string) => void): Promise<HistoryMemory> {
  const ca = await createCertificateAuthority();
  await using server = await startBenchRedis();
  await using history = await startBenchHistory();
  await using receivers = await startReceivers({ ca, behaviours: new Array(FAN_OUT).fill('ok') as 'ok'[] });
  await using env = await createHeraldEnv(server.url, ca);
  const variables = { HISTORY_URL: history.postgres.url, RETENTION: KEPT, TASK_RETENTION: KEPT };
  await using running = new AsyncDisposableStack();
  const api = running.use(await startApi({ env, variables }));
  const worker = running.use(await startWorker({ env, variables }));
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  running.defer(() => closeRedis(redis));
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  const urls = receivers.origins.map((origin) => `${origin}/hook`);
  const plan = { id: 'ws_bench', tasks: 0, receivers: urls.map((url) => ({ url })) };
  const { executorKey, workspaces } = await prepareWorkspaces(api.port, env, [plan]);
  const customer = running.use(
    openApiClient({ port: api.port, key: workspaces[0]?.key ?? '', connections: CONNECTIONS }),
  );
  const executor = running.use(openApiClient({ port: api.port, key: executorKey, connections: CONNECTIONS }));

  const tasks = Math.ceil((seconds * 1_000) / EVERY_MS);
  const samples: { atSeconds: number; MiB: number; waiting: number }[] = [];
  const startedAt = performance.now();
  const cpuBefore = readCpuMs(worker.pid);
  const sample = async () => {
    const MiB = (await readUsedBytes(redis)) / 2 ** 20;
    const waiting = await redis.zcard(keys.settled);
    const atSeconds = Math.round((performance.now() - startedAt) / 1_000);
    samples.push({ atSeconds, MiB, waiting });
    say(`history-load, after ${atSeconds} s: ${MiB.toFixed(1)} MiB, ${waiting} settled deliveries in Redis`);
  };
  const tenth = Math.max(1, Math.floor(tasks / 10));
  await atPace(EVERY_MS, tasks, async (index) => {
    const { id: taskId } = (await customer.call('POST', '/tasks', {})) as { id: string };
    await reportBatch(
      executor,
      LIFE.map((report) => ({ taskId, report })),
    );
    if ((index + 1) % tenth === 0) await sample();
  });
  const workerCpu = (readCpuMs(worker.pid) - cpuBefore) / (performance.now() - startedAt);
  const deliveries = tasks * EVENTS * FAN_OUT;
  const until = (count: number) => count >= deliveries;
  await waitFor('all to arrive', receivers.count, { until, deadlineMs: SETTLED_DEADLINE_MS });
  await waitFor('all to have moved', () => redis.zcard(keys.settled), {
    until: (left) => left === 0,
    deadlineMs: SETTLED_DEADLINE_MS,
  });
  const { rows } = await history.pool.query<{ count: number }>('SELECT count(*) FROM herald.deliveries');
  return { samples, deliveries, rows: rows[0]?.count ?? 0, workerCpu };
}
