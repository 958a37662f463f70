import { createKeyspace, type Keyspace } from '@herald/store/keys/keys';
import { messageOf } from '@herald/test-kit';
import { startHerald, type Herald } from '../tests/support/start-herald.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { foundFloodingWorkspace, foundWorkspaces } from './found-workspaces.ts';
import { judgePastLists } from './judge-past-lists.ts';
import { judgeRun, type Verdict } from './judge-run.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { findUnmoved } from './find-unmoved.ts';
import { findLeftovers } from './look-at-queue.ts';
import { createInsist } from './patient-client.ts';
import { createPerform } from './perform.ts';
import { createPlan, describeAction, LONGEST_PAUSE_MS, RECEIVERS } from './plan.ts';
import { createRandom } from './random.ts';
import { findUnclear, readReceivers } from './read-receivers.ts';
import { readLists } from './read-lists.ts';
import { readRecords } from './read-records.ts';
import { readReplays } from './read-replays.ts';
import { createReplicaFaults } from './replica-faults.ts';
import { createFactReporter } from './report-facts.ts';
import { runPlan } from './run-plan.ts';
import { describeScenario, type Scenario } from './scenario.ts';
import { startCustomers } from './start-customers.ts';
import { PENDING_LIMIT, startFlood } from './start-flood.ts';
import { startHistory, type RunHistory } from './start-history.ts';
import { startHost, type Host } from './start-host.ts';
import { startLoad } from './start-load.ts';
import { startReaders, type PastLists } from './start-readers.ts';
import { waitUntilNothingIsLeft } from './wait-until-settled.ts';
import { watchQueue } from './watch-queue.ts';

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
