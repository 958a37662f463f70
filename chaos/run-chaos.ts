import { createPartitions, DAY_MS } from '@herald/history/partitions/partitions';
import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createKeyspace, type Keyspace, type ShardKeys } from '@herald/store/keys/keys';
import { mastersOf, type RedisClient } from '@herald/store/redis/connect-redis';
import { messageOf, startPostgres, waitFor } from '@herald/test-kit';
import { setTimeout as pause } from 'node:timers/promises';
import { readPendingWork } from '../tests/support/delivery-state.ts';
import { checkpoint, START } from '../tests/support/reports.ts';
import type { Env } from '../tests/support/start-herald-process.ts';
import { type Herald, startHerald } from '../tests/support/start-herald.ts';
import type { ChaosTask } from './create-task.ts';
import { type Fleet, startFleet } from './fleet.ts';
import { foundFloodingWorkspace, foundWorkspaces } from './found-workspaces.ts';
import { createHistoryFaults, type HistoryFaults } from './history-faults.ts';
import { judgePastLists, judgeRun, type Verdict } from './judge-run.ts';
import { createWaitJudge, type WaitJudge } from './judge-waits.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import { type AskedReplay, createLedger, type Ledger } from './ledger.ts';
import { startLink } from './link.ts';
import { findLeftovers, lookAtQueue } from './look-at-queue.ts';
import { createInsist } from './patient-client.ts';
import { createPerform } from './perform.ts';
import { createPlan, describeAction, LONGEST_PAUSE_MS, RECEIVERS } from './plan.ts';
import { createRandom } from './random.ts';
import { type HistoryRow, readHistoryRows } from './read-history-rows.ts';
import { readLists } from './read-lists.ts';
import { findUnclear, readReceivers } from './read-receivers.ts';
import { readRecords } from './read-records.ts';
import { createReplicaFaults } from './replica-faults.ts';
import { createFactReporter, type FactReporter } from './report-facts.ts';
import { runPlan } from './run-plan.ts';
import { describeScenario, type Scenario } from './scenario.ts';
import { startCustomers } from './start-customers.ts';
import { type Host, startHost } from './start-host.ts';
import { type Load, startLoad } from './start-load.ts';
import { type PastLists, startReaders } from './start-readers.ts';

export type Run = { readonly seed: number; readonly seconds: number; readonly scenario: Scenario };

export type Outcome = Run & {
  readonly plan: readonly string[];
  /** From the end of the last fault until no work was left, in ms. */
  readonly recoveryMs: number;
  readonly fleet: Fleet['counts'];
  readonly redisFaults: number;
  readonly failovers: number;
  readonly moves: number;
  /** Absent: there was none. */
  readonly history?: PastLists['counts'] & { readonly faults: number; readonly rows: number };
  /** Number of looks at the queue while a worker lived. */
  readonly looks: number;
  /** Longest observed wait of a sendable delivery while a worker lived, in ms. */
  readonly longestWaitMs: number;
  readonly askedAgain: { readonly redeliveries: number; readonly replays: number };
  readonly ledger: Ledger['counts'];
  readonly counts: Verdict['counts'];
  readonly violations: readonly string[];
};

const SCHEDULE = ['200ms', '500ms', '1s', '2s', '3s', '4s', ...Array<string>(8).fill('5s')];
const DELIVERY_TIMEOUT_MS = 2_000;
/** Deliveries that a workspace may have pending in a run: the others stay far below it. */
const PENDING_LIMIT = 3_000;
const ENV = {
  LOG_LEVEL: 'info',
  RETRY_SCHEDULE: SCHEDULE.join(','),
  DELIVERY_TIMEOUT: `${DELIVERY_TIMEOUT_MS}ms`,
  WORKSPACE_PENDING_LIMIT: String(PENDING_LIMIT),
};
/** A lease, the search for ended leases, and the longest wait of a breaker in a run. */
const RECOVERY_DEADLINE_MS = 150_000;
/** Redis unreachable during the write of a record, and a late connection. */
const LATE_MS = 15_000;

/** A run without a verdict: its tools failed, or the service never recovered. */
export type Spoiled = { readonly kind: 'spoiled'; readonly run: Run; readonly reason: string };
/** `logs`: the output of all processes. */
export type Ended = ({ readonly kind: 'judged'; readonly outcome: Outcome } | Spoiled) & { readonly logs: string };

/** One run: load, the faults of the plan, recovery, verdict. */
export async function runChaos(run: Run, say: (line: string) => void): Promise<Ended> {
  const { topology, shards, history: hasHistory, moves } = run.scenario;
  const late: string[] = [];
  let logs = '';
  let outcome: Outcome | undefined;
  try {
    await using history = hasHistory ? await startHistory() : undefined;
    await using herald = await startHerald({
      topology,
      apis: 1,
      workers: 0,
      env: {
        ...ENV,
        ...history?.env,
        SHARDS: String(shards),
        ...(topology !== 'single' && { REDIS_MIN_REPLICAS: '1' }),
      },
      redis: {
        appendonly: true,
        outlivesFullDisk: topology === 'single',
        // A master that gave all of its slots away stays one, with its replica.
        ...(moves && { args: ['--cluster-allow-replica-migration', 'no'] }),
      },
    });
    await using stack = new AsyncDisposableStack();
    const hosts: Host[] = [];
    // The last one is that of the flooding workspace.
    for (let index = 0; index <= RECEIVERS; index++) hosts.push(stack.use(await startHost(herald.ca, index)));
    try {
      outcome = await runOn({ herald, keyspace: createKeyspace(shards), hosts, history }, run, say);
    } finally {
      logs = herald.logs();
    }
  } catch (error) {
    if (!outcome) return { kind: 'spoiled', run, reason: messageOf(error), logs };
    late.push(`the end was not clean: ${messageOf(error)}`);
  }
  return { kind: 'judged', outcome: { ...outcome, violations: [...outcome.violations, ...late] }, logs };
}

type Stage = {
  readonly herald: Herald;
  readonly keyspace: Keyspace;
  readonly hosts: readonly Host[];
  readonly history: RunHistory | undefined;
};

async function runOn(stage: Stage, run: Run, say: (line: string) => void): Promise<Outcome> {
  const { herald, keyspace, hosts, history } = stage;
  const { seed, seconds, scenario } = run;
  const plan = createPlan(seed, seconds, scenario);
  const faulty = hosts.slice(0, RECEIVERS);
  const workspaces = await foundWorkspaces(herald, keyspace, faulty, createRandom(seed, 'workspaces'));
  const { tasks, ...flooding } = await foundFloodingWorkspace(herald, {
    index: RECEIVERS,
    origin: hosts[RECEIVERS]?.origin ?? '',
  });
  const everybody = [...workspaces, flooding];
  const endpoints: KnownEndpoint[] = everybody.flatMap(({ receivers }) => receivers);
  const know = (endpoint: KnownEndpoint) => void endpoints.push(endpoint);
  await hosts[RECEIVERS]?.set('lazy');
  await herald.apis[0]?.stop(); // it served the set-up; from here on processes reach Redis by their own ways

  await using fleet = await startFleet(herald);
  const ledger = createLedger();
  const givingUp = new AbortController();
  const insist = createInsist({ herald, fleet, ledger, random: createRandom(seed, 'routes'), signal: givingUp.signal });
  const reporter = createFactReporter(herald.executor.key, insist, ledger);
  const origins = faulty.map(({ origin }) => origin);
  const load = startLoad({ insist, origins, onCallback: know, seed, workspaces, reporter, ledger });
  const customers = startCustomers({ insist, ledger, origins, onReceiver: know, seed, workspaces });
  const flood = startFlood({ tasks, reporter, ledger });
  const mayForgetUnanswered = scenario.topology !== 'single';
  const readers = history && startReaders({ insist, ledger, seed, workspaces });
  const replicas = createReplicaFaults(herald.topology, keyspace);
  await using watch = watchQueue(herald.redis, keyspace, () => fleet.workerAbleSince());
  say(`${describeScenario(scenario)}, ${plan.length} faults in ${seconds} s`);
  const unended = await runPlan(
    plan,
    seconds,
    createPerform({ herald, fleet, hosts, replicas, history: history?.faults }),
    say,
  );
  await fleet.giveHistoryBack();
  const healedAt = performance.now();
  say('everything is well again; waiting until nothing is left to do');
  const timer = setTimeout(() => {
    givingUp.abort(new Error('no answer, although all had been well for long'));
  }, RECOVERY_DEADLINE_MS);
  await hosts[RECEIVERS]?.set('good');
  await Promise.all([load.stop(), customers.stop(), readers?.stop(), flood.stop()]);
  clearTimeout(timer);
  const left = await waitUntilNothingIsLeft(herald.redis, keyspace, RECOVERY_DEADLINE_MS);
  const recoveryMs = performance.now() - healedAt;
  const waits = await watch.stop();
  const find = history ? [findLeftovers, findUnmoved] : [findLeftovers];
  const leftovers = await Promise.all(keyspace.shards.flatMap((keys) => find.map((each) => each(herald.redis, keys))));
  const receivers = await readReceivers(herald, fleet.apis()[0], everybody);
  const records = await readRecords(herald.redis, keyspace);
  const inRedis = new Set(records.map(({ id }) => id));
  const past = history && { rows: await history.readRows(), lists: await readLists(insist, everybody) };
  const verdict = judgeRun({
    facts: ledger.facts,
    redeliveries: ledger.redeliveries,
    receivers,
    endpoints: [...endpoints, ...findUnclear(receivers, customers.unclear, endpoints)],
    arrivals: hosts.flatMap(({ arrivals }) => arrivals),
    records: [...records, ...(past?.rows.filter(({ id }) => !inRedis.has(id)) ?? [])],
    ...(past && { history: past }),
    replays: await readReplays(herald.redis, keyspace, ledger.replays),
    triesOfSchedule: SCHEDULE.length + 1,
    latestAfterMs: LONGEST_PAUSE_MS + LATE_MS,
    mayForgetUnanswered,
  });
  return {
    ...run,
    plan: plan.map(describeAction),
    recoveryMs,
    fleet: { ...fleet.counts },
    redisFaults: plan.filter(({ kind }) => kind === 'redis' || kind === 'replicas').length,
    failovers: replicas.failovers,
    moves: replicas.moves,
    ...(past &&
      readers && {
        history: {
          faults: plan.filter(({ kind }) => kind === 'history').length,
          ...readers.lists.counts,
          rows: past.rows.length,
        },
      }),
    looks: waits.looks,
    longestWaitMs: waits.longestMs,
    askedAgain: { redeliveries: ledger.redeliveries.length, replays: ledger.replays.length },
    ledger: ledger.counts,
    counts: verdict.counts,
    violations: [
      ...unended,
      ...(left === undefined ? [] : [left]),
      ...((await history?.dropOldDays()) ?? []),
      ...leftovers.flat().map((each) => `left in the end: ${each}`),
      ...waits.violations,
      ...fleet.violations,
      ...ledger.violations,
      ...judgePastLists(readers?.lists.all ?? [], ledger.facts, endpoints, mayForgetUnanswered),
      ...verdict.violations,
    ],
  };
}

/** Deliveries, transitions, and entries of logs. */
const PATTERNS = ['dlv_*', 'trn_*', 'e:*:log*', 'w:*:callbacks*', 'failed', 'failed:*'];

/** Keys of a shard that are left although everything has moved to the history, as sentences. */
async function findUnmoved(redis: RedisClient, { prefix }: ShardKeys): Promise<string[]> {
  const keys = await Promise.all(
    PATTERNS.flatMap((pattern) => mastersOf(redis).map((master) => master.keys(`${prefix}${pattern}`))),
  );
  return [...new Set(keys.flat())].map((key) => `${key} has not moved`);
}

/** Requested replays, each with its final state. */
async function readReplays(redis: RedisClient, keyspace: Keyspace, asked: readonly AskedReplay[]) {
  return await Promise.all(
    asked.map(async (replay) => {
      const key = keyspace.of(replay.endpoint.workspaceId).replay(replay.id);
      return { ...replay, status: (await redis.hget(key, 's')) ?? undefined };
    }),
  );
}

const REPORTS_OF_A_TASK = 5;
/** So large that this workspace holds the most of all. */
const SUMMARY = 'x'.repeat(4_000);
const PAUSE_MS = 100;

type FloodDeps = {
  /** All of one workspace. */
  readonly tasks: readonly ChaosTask[];
  readonly reporter: FactReporter;
  readonly ledger: Ledger;
};

/** Keeps a workspace at its limit of pending deliveries. What is refused is reported again until it is accepted. */
function startFlood({ tasks, reporter, ledger }: FloodDeps): Load {
  const stopping = new AbortController();
  const flood = async () => {
    await reporter.reportBatch(
      tasks.map((task) => ({ task, report: START })),
      { mayBeFull: true },
    );
    for (let batch = 0; !stopping.signal.aborted; batch++) {
      const items = Array.from({ length: REPORTS_OF_A_TASK }, (_, index) =>
        tasks.map((task) => ({
          task,
          report: checkpoint(`flood-${batch}-${index}`, { outcome: { summary: SUMMARY } }),
          event: 'task.check_in' as const,
        })),
      );
      await reporter.reportBatch(items.flat(), { mayBeFull: true });
      await pause(PAUSE_MS);
    }
  };
  const flooding = flood().catch((error: unknown) => {
    ledger.violations.push(`flood: ${messageOf(error)}`);
  });
  return {
    async stop() {
      stopping.abort();
      await flooding;
    },
  };
}

/** A PostgreSQL of the run's own, with the schema, to which settled deliveries move. */
type RunHistory = AsyncDisposable & {
  /** What each process gets. */
  readonly env: Env;
  readonly faults: HistoryFaults;
  readonly readRows: () => Promise<HistoryRow[]>;
  /** Drops every day that is long over, as a worker does. Returns why one stays. */
  readonly dropOldDays: () => Promise<string[]>;
};

/** How long a settled delivery stays in Redis: most of a run's deliveries move during the run. */
const RETENTION = '1s';
/** Of a slow connection, each way, in ms: pages of lists are read within their second, or just not. */
const DELAY_MS = 200;
const STATEMENT_LIMIT_MS = 30_000;
const YEAR_MS = 365 * DAY_MS;

export async function startHistory(): Promise<RunHistory> {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const options = { name: 'chaos', connections: 3, statementLimitMs: STATEMENT_LIMIT_MS, onError: () => undefined };
  const openPool = () => createHistoryPool({ url: postgres.url, ...options });
  // An API doesn't start without it.
  await withPool(openPool(), (pool) => prepareHistory(pool, 'write'));
  const link = cleanUp.use(await startLink(postgres.port, DELAY_MS));
  const faults = cleanUp.use(createHistoryFaults(postgres, link));
  const stack = cleanUp.move();
  return {
    env: { HISTORY_URL: `postgres://postgres@127.0.0.1:${link.port}/postgres`, RETENTION },
    faults,
    readRows: () => withPool(openPool(), readHistoryRows),
    dropOldDays: () =>
      withPool(openPool(), async (pool) => {
        const { failures } = await createPartitions(pool).dropBefore(Date.now() - YEAR_MS);
        return failures.map((failure) => `an old day stays in the history: ${messageOf(failure)}`);
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function withPool<T>(pool: HistoryPool, work: (pool: HistoryPool) => Promise<T>): Promise<T> {
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** Waits until no work is left, and nothing to move; returns the work that was left at the deadline, or undefined. */
async function waitUntilNothingIsLeft(
  redis: RedisClient,
  { shards }: Keyspace,
  deadlineMs: number,
): Promise<string | undefined> {
  const count = async (name: 'replays' | 'purge' | 'settled') => {
    const counts = await Promise.all(shards.map((keys) => redis.zcard(keys[name])));
    return counts.reduce((sum, each) => sum + each, 0);
  };
  const read = async () => ({
    ...(await readPendingWork(redis, shards.length)),
    replays: await count('replays'),
    purges: await count('purge'),
    // With a history. Without one, nothing waits to move.
    unmoved: await count('settled'),
  });
  try {
    await waitFor('nothing to be left', read, {
      until: (left) => Object.values(left).every((count) => count === 0),
      deadlineMs,
    });
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const LOOK_EVERY_MS = 500;
/** A slower answer of Redis counts as a fault, in ms. */
const ANSWER_WITHIN_MS = 1_000;

type QueueWatch = AsyncDisposable & {
  /** Stops looking. */
  readonly stop: () => Promise<Pick<WaitJudge, 'violations' | 'looks' | 'longestMs'>>;
};

/**
 * Looks at the queue twice a second for deliveries that wait without a reason.
 * @param ableSince since when some worker has been able to work, by `performance.now`; undefined: none is able
 */
function watchQueue(redis: RedisClient, { shards }: Keyspace, ableSince: () => number | undefined): QueueWatch {
  const judge = createWaitJudge();
  const stopping = new AbortController();
  const look = async () => {
    const groups = await Promise.race([
      Promise.all(shards.map((keys) => lookAtQueue(redis, keys))),
      pause(ANSWER_WITHIN_MS, undefined),
    ]);
    if (groups) judge.look(performance.now(), ableSince(), groups);
    else judge.skip();
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      // An unreachable Redis is one of the faults.
      await look().catch(judge.skip);
      await pause(LOOK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  const stop = async () => {
    stopping.abort();
    await running;
    return judge;
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
