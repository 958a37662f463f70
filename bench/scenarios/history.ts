import { deliveryIdOf, newReceiverId, newTaskId, newTestTransitionId } from '@herald/core';
import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createHistoryWriter } from '@herald/history/writing/history-writer';
import { createPartitions, type Partitions } from '@herald/history/partitions/partitions';
import type { HistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { writeFirstAttempt } from '@herald/store/deliveries/attempt-record';
import { createKeyspace, type ShardKeys } from '@herald/store/keys/keys';
import { LOG_LUA } from '@herald/store/keys/segment-lua';
import { createMoveStore } from '@herald/store/bulk/move-store';
import { closeRedis, connectRedis, type RedisClient } from '@herald/store/redis/connect-redis';
import { defineScript } from '@herald/store/redis/script';
import { createCertificateAuthority, waitFor } from '@herald/test-kit';
import { moveSettled } from '../../apps/worker/src/move-to-history.ts';
import { atPace, checkIn, DONE, openApiClient, reportBatch, START } from '../clients.ts';
import { prepareWorkspaces } from '../prepare-workspaces.ts';
import type { Scenario, ScenarioRun } from '../run-scenarios.ts';
import {
  createHeraldEnv,
  startApi,
  startBenchHistory,
  startBenchRedis,
  startWorker,
  THIS_BUILD,
} from '../start-herald.ts';
import { startReceivers } from '../start-receivers.ts';
import { median, percentile } from '../table.ts';
import { judgeHistory, judgeOnce, judgeRounds } from '../targets.ts';
import { readCpuMs, readUsedBytes } from '../usage.ts';
import { type Latencies, measureLatency } from './latency.ts';

/** How fast settled deliveries move to PostgreSQL, what they take there, and how fast something among many is read. */
export const history: Scenario = async (run) => {
  const { count, repeats, rows } = run.options;
  await using started = await startBenchHistory();
  const { pool } = started;
  const partitions = createPartitions(pool);
  const { rounds, bytes } = await measureMoving(pool, partitions, run);
  run.say(`history, reading among ${rows} rows`);
  const pages = await measureHistoryPage(pool, partitions, rows);
  const perSecond = median(rounds.map((round) => round.perSecond));
  const cpuUs = median(rounds.map((round) => round.cpuUs));
  return {
    tables: [
      {
        title: `History: ${count} deliveries a round at fan-out ${FAN_OUT}, median of ${repeats}`,
        columns: ['moved', 'value'],
        rows: [
          ['deliveries/s', perSecond],
          ['CPU of the worker for each, µs', cpuUs],
          ['disk for each, without its body, bytes', bytes],
        ],
        notes: ['One mover in this process; PostgreSQL with fsync, Redis and the mover share the machine.'],
      },
      {
        title: `History: reading among ${rows} deliveries of 30 days, slowest of 50, ms`,
        columns: ['read', 'ms'],
        rows: [
          ['first page of a receiver', pages.first],
          ['a page from the middle of its time', pages.deep],
          ['a page with a filter that matches nothing', pages.filtered],
          ['a delivery by its id', pages.details],
          ['the transitions of a Task', pages.task],
        ],
        notes: ['By the reader of the API. A page that is filtered looks at 10,000 deliveries.'],
      },
    ],
    raw: { rounds, bytes, pages },
    targets: judgeHistory({ perSecond, cpuUs, bytes, pageMs: pages.first }),
  };
};

const DAY_MS = 86_400_000;
const DAYS = 30;
/** Reads of each kind, each of another receiver. */
const READS = 50;
/** A page of 50, and one more that tells whether there are more. */
const PAGE = 51;
const LIMIT_MS = 60_000;

/** The slowest read of each kind, in ms. */
type PageTimes = Readonly<Record<'first' | 'deep' | 'filtered' | 'details' | 'task', number>>;

/** How long it takes to read something among `count` deliveries of 30 days. */
async function measureHistoryPage(pool: HistoryPool, partitions: Partitions, count: number): Promise<PageTimes> {
  const today = Math.floor(Date.now() / DAY_MS);
  await partitions.ensure(Array.from({ length: DAYS }, (_, index) => today - DAYS + index));
  const values = [count, (today - DAYS) * DAY_MS, DAYS * DAY_MS];
  await pool.query(FILL_TRANSITIONS, values);
  await pool.query(FILL_DELIVERIES, values);
  await pool.query('VACUUM ANALYZE herald.deliveries, herald.transitions');
  const reader = createHistoryReader({ pool, limitMs: LIMIT_MS, onUnavailable: () => undefined });

  const times = { first: 0, deep: 0, filtered: 0, details: 0, task: 0 };
  const time = async <T>(kind: keyof PageTimes, work: () => Promise<T>, isRight: (result: T) => boolean) => {
    const startedAt = performance.now();
    const result = await work();
    times[kind] = Math.max(times[kind], performance.now() - startedAt);
    if (!isRight(result)) throw new Error(`a read of the kind ${kind} found something else`);
    return result;
  };
  for (let index = 0; index < READS; index++) {
    const workspaceId = `ws_${index % 10}`;
    const of = { workspaceId, endpointId: `wh_${String(index).padStart(26, '0')}`, limit: PAGE };
    const isFull = ({ found }: { readonly found: readonly unknown[] }) => found.length === PAGE;
    const { found } = await time('first', () => reader.list(of), isFull);
    const until = (today - DAYS / 2) * DAY_MS;
    await time('deep', () => reader.list({ ...of, until }), isFull);
    await time(
      'filtered',
      () => reader.list({ ...of, status: 'failed' }),
      (page) => page.found.length === 0,
    );
    const delivery = found[0]?.delivery;
    if (!delivery) throw new Error('a page is empty');
    const isFound = (result: unknown) => result !== undefined;
    await time('details', () => reader.find(workspaceId, delivery.id), isFound);
    await time(
      'task',
      () => reader.listSequences(workspaceId, delivery.taskId ?? '', 20),
      (each) => each.length === 10,
    );
  }
  return times;
}

/** Of each transition the time of its acceptance. $1: deliveries   $2: time of the first   $3: ms in which they spread */
const TIMES = '$2::bigint + transition * 10 * $3::bigint / $1::bigint';
const TRANSITIONS = 'FROM generate_series(0, $1::bigint / 10 - 1) AS transition';

/** Ten deliveries of a transition, ten transitions of a Task, a hundred receivers of ten workspaces. */
const FILL_DELIVERIES = `
INSERT INTO herald.deliveries (created_at, settled_at, changed_at, tries, is_released, id, transition_id, endpoint_id,
  workspace_id, task_id, event, status, attempts)
SELECT at, at, at, 1, false, substring(sha256(n::text::bytea) for 20),
  substring(sha256(transition::text::bytea) for 20), 'wh_' || lpad((n % 100)::text, 26, '0'), 'ws_' || n % 10,
  'task_' || lpad((transition / 10)::text, 26, '0'), 'task.check_in', 'delivered',
  '[{"at":1764000000000,"durationMs":12.3,"status":200,"answer":"ok","h":{"t":"text/plain"}}]'
${TRANSITIONS}, LATERAL (SELECT ${TIMES} AS at) AS time,
  generate_series(transition * 10, transition * 10 + 9) AS n`;

const FILL_TRANSITIONS = `
INSERT INTO herald.transitions (created_at, sequence, id, body)
SELECT ${TIMES}, 1, substring(sha256(transition::text::bytea) for 20), '{"event":"task.check_in"}' ${TRANSITIONS}`;

const FAN_OUT = 10;

type MovingRound = { readonly perSecond: number; readonly cpuUs: number };
type Moving = { readonly rounds: readonly MovingRound[]; readonly bytes: number };

/** How fast one mover is, in rounds, and what a delivery takes on disk. */
async function measureMoving(
  pool: HistoryPool,
  partitions: Partitions,
  { options: { count, repeats }, say }: ScenarioRun,
): Promise<Moving> {
  await using server = await startBenchRedis();
  await using cleanUp = new AsyncDisposableStack();
  const redis = await connectRedis({
    target: { kind: 'single', url: server.url },
    use: 'background',
    name: 'bench',
    onError: () => undefined,
  });
  cleanUp.defer(() => closeRedis(redis));
  const [keys] = createKeyspace(1).shards;
  if (!keys) throw new Error('there is always a first shard');
  const writer = createHistoryWriter({ pool, partitions, keepsBodies: true });
  const moves = createMoveStore({ redis, keys, now: Date.now });
  const rounds: MovingRound[] = [];
  const transitions = Math.ceil(count / FAN_OUT);
  for (let round = 0; round <= repeats; round++) {
    say(round === 0 ? 'history, warming up' : `history, round ${round} of ${repeats}`);
    await fill(redis, keys, transitions);
    const startedAt = performance.now();
    const cpu = process.cpuUsage();
    const moved = await moveSettled({
      moves,
      history: writer,
      judge: judgeHistoryError,
      mover: 'bench',
      retentionMs: 0,
      isStopping: () => false,
      report: { moved: () => undefined, setAside: () => undefined },
      now: () => Date.now(),
    });
    if (moved !== transitions * FAN_OUT) throw new Error(`${moved} of ${transitions * FAN_OUT} deliveries moved`);
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (round > 0) rounds.push({ perSecond: moved / seconds, cpuUs: (user + system) / moved });
  }
  return { rounds, bytes: await measureBytes(pool, transitions * FAN_OUT * (repeats + 1)) };
}

const LOG_TTL_MS = 5 * 86_400_000;
const APPEND_LUA = `${LOG_LUA} appendToLog(KEYS[1], ARGV[1], { ARGV[2], ARGV[3] })`;

/** Settled deliveries with one attempt, as a worker leaves them. */
async function fill(redis: RedisClient, keys: ShardKeys, transitions: number): Promise<void> {
  const at = Date.now();
  const append = defineScript(redis, APPEND_LUA);
  const endpoints = Array.from({ length: FAN_OUT }, () => newReceiverId(at));
  const attempt = { at, durationMs: 12, status: 200, answer: 'ok', headers: { 'content-type': 'text/plain' } };
  const body = `{"id":"trn","event":"task.check_in","created_at":"x","sequence":1,"outcome":"${'o'.repeat(400)}"}`;
  for (let index = 0; index < transitions; index++) {
    const id = newTestTransitionId();
    const task = newTaskId(at);
    const created = String(at + index);
    const fields = { open: 0, ev: 'task.check_in', ws: 'ws_bench', task, at: created, req: 'req_123456789012' };
    const writes: Promise<unknown>[] = [redis.hset(keys.transition(id), { ...fields, eps: endpoints.join(','), body })];
    for (const endpoint of endpoints) {
      const delivery = deliveryIdOf(id, endpoint);
      const record = { x: id, e: endpoint, s: 'delivered', n: 1, at: created, end: created };
      const first = writeFirstAttempt(attempt, at + index) ?? [];
      writes.push(
        redis.hset(keys.delivery(delivery), ...Object.entries(record).flat(), ...first),
        append([keys.endpointLog(endpoint)], [LOG_TTL_MS, created, delivery]),
        redis.zadd(keys.settled, at - 1, delivery),
      );
    }
    await Promise.all(writes);
  }
}

/** With indexes, and a tenth of the transition without its body. */
async function measureBytes(pool: HistoryPool, deliveries: number): Promise<number> {
  await pool.query('VACUUM ANALYZE herald.deliveries, herald.transitions');
  const { rows } = await pool.query<{ bytes: number }>(`
    SELECT ((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('herald.deliveries') WHERE isleaf)
      + (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('herald.transitions') WHERE isleaf)
      - (SELECT sum(octet_length(body)) FROM herald.transitions))::bigint AS bytes`);
  return (rows[0]?.bytes ?? NaN) / deliveries;
}

const DELIVERIES_PER_SECOND = 500;

const LOAD = { name: '500/s, fan-out 1', deliveriesPerSecond: DELIVERIES_PER_SECOND, receivers: 1, fanOut: 1 };
const LATENCY_SECONDS = 20;
const VARIANTS = ['without', 'moving', 'catching up'] as const;
type Variant = (typeof VARIANTS)[number];
const SHARES = [0.5, 0.9, 0.99, 1] as const;

/** What a load feels of a history: latency while deliveries move, and memory in the course of time. */
export const historyLoad: Scenario = async ({ options: { seconds, repeats }, say }) => {
  const measured = new Map<Variant, Latencies[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 1; round <= repeats; round++) {
    for (const variant of VARIANTS) {
      say(`history-load, latency ${variant}, round ${round} of ${repeats}`);
      measured.get(variant)?.push(await measure(variant));
    }
  }
  const roundsOf = (variant: Variant) => measured.get(variant) ?? [];
  const shareOf = (variant: Variant, share: number) =>
    roundsOf(variant).map(({ fromAnswer }) => percentile(fromAnswer, share));
  say(`history-load, memory over ${seconds} s`);
  const memory = await measureHistoryMemory(seconds, say);
  const { samples, deliveries, rows, workerCpu } = memory;
  const judgeLatency = (variant: Variant, share: number) =>
    judgeRounds(
      'historyLatency',
      `history-load: p${share * 100} ${variant}, ms`,
      shareOf(variant, share).map((each, index) => ({
        measured: each,
        floor: shareOf('without', share)[index] ?? NaN,
      })),
    );
  return {
    tables: [
      {
        title: `Latency with a history: ${LOAD.name}, ms from the 2xx to the arrival, ${LATENCY_SECONDS} s, median of ${repeats}`,
        columns: ['history', 'p50', 'p90', 'p99', 'max'],
        rows: VARIANTS.map((variant) => [variant, ...SHARES.map((share) => median(shareOf(variant, share)))]),
        notes: [
          'Moving: each delivery moves two seconds after it has settled. Catching up: PostgreSQL was away during the warm-up of 25 s, and what waited moves in the first seconds.',
        ],
      },
      {
        title: `Memory of Redis with a history: ${DELIVERIES_PER_SECOND} deliveries/s at fan-out 10 for ${seconds} s, kept for ${KEPT}`,
        columns: ['after, s', 'MiB', 'settled deliveries in Redis'],
        rows: samples.map(({ atSeconds, MiB, waiting }) => [atSeconds, MiB, waiting]),
        notes: [
          `Tasks are kept for ${KEPT} too. Of ${deliveries} deliveries ${rows} were in PostgreSQL in the end. The worker used ${Math.round(workerCpu * 100)} % of a core.`,
        ],
      },
    ],
    raw: {
      latency: Object.fromEntries(
        VARIANTS.map((variant) => [variant, SHARES.map((share) => [share, shareOf(variant, share)])]),
      ),
      memory,
    },
    targets: [
      ...(['moving', 'catching up'] as const).flatMap((variant) =>
        [0.5, 0.99].map((share) => judgeLatency(variant, share)),
      ),
      judgeOnce(
        'historyGrowth',
        'history-load: MiB of Redis in the end',
        samples.at(-1)?.MiB ?? NaN,
        samples[1]?.MiB ?? NaN,
      ),
    ],
  };
};

async function measure(variant: Variant): Promise<Latencies> {
  const measurement = { load: LOAD, seconds: LATENCY_SECONDS, build: THIS_BUILD };
  if (variant === 'without') return await measureLatency(measurement);
  await using history = await startBenchHistory();
  const { postgres } = history;
  const variables = { HISTORY_URL: postgres.url, RETENTION: '2s' };
  if (variant === 'moving') return await measureLatency({ ...measurement, variables });
  await postgres.stop();
  return await measureLatency({ ...measurement, variables, beforeLoad: () => postgres.restart() });
}

/** Each Task lives for one batch of these. */
const LIFE = [START, checkIn(1), checkIn(2), checkIn(3), DONE];
/** START is told nobody. */
const EVENTS = LIFE.length - 1;
const EVERY_MS = (1_000 / DELIVERIES_PER_SECOND) * EVENTS * FAN_OUT;
const CONNECTIONS = 4;
const SETTLED_DEADLINE_MS = 300_000;
/** How long Redis keeps what has settled, so that it is full after a minute. */
const KEPT = '1m';

type HistoryMemory = {
  /** At the end of each tenth of the time: seconds, and Redis' memory in MiB. */
  readonly samples: readonly { readonly atSeconds: number; readonly MiB: number; readonly waiting: number }[];
  readonly deliveries: number;
  /** In the history in the end. */
  readonly rows: number;
  /** Share of a core. */
  readonly workerCpu: number;
};

/** Tasks come and end while their deliveries move to the history, for so long. */
async function measureHistoryMemory(seconds: number, say: (line: string) => void): Promise<HistoryMemory> {
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
