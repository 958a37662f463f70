import { messageOf } from '@herald/test-kit';
import { startHerald, type Herald } from '../tests/support/start-herald.ts';
import { startFleet, type Fleet } from './fleet.ts';
import { foundWorkspaces } from './found-workspaces.ts';
import { judgeRun, type Verdict } from './judge-run.ts';
import { createLedger, type KnownEndpoint, type Ledger } from './ledger.ts';
import { createMoodyReceiver } from './moods.ts';
import { createInsist } from './patient-client.ts';
import { createPlan, describeAction, LONGEST_PAUSE_MS, RECEIVERS, type Action } from './plan.ts';
import { createRandom } from './random.ts';
import type { ChaosOptions } from './read-options.ts';
import { readRecords } from './read-records.ts';
import { createRedisFaults } from './redis-faults.ts';
import { createFactReporter } from './report-facts.ts';
import { runPlan } from './run-plan.ts';
import { startLoad } from './start-load.ts';
import { waitUntilNothingIsLeft } from './wait-until-settled.ts';

export type Outcome = {
  readonly seed: number;
  readonly seconds: number;
  readonly plan: readonly string[];
  /** From the end of the last fault until nothing was left to do. */
  readonly recoveryMs: number;
  readonly fleet: Fleet['counts'];
  readonly redisFaults: number;
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
};
/** A job's lock, the look for jobs that lost theirs, and the longest wait of a breaker that such a run opens. */
const RECOVERY_DEADLINE_MS = 150_000;
/** Redis out of reach at a record's write, and a connection that answers late. */
const LATE_MS = 15_000;

/** One run: load, what the plan lets go wrong, recovery, verdict. `logs` is what all processes printed. */
export async function runChaos({ seed, seconds }: ChaosOptions, say: (line: string) => void) {
  const plan = createPlan(seed, seconds);
  const late: string[] = [];
  let logs = '';
  let outcome: Outcome | undefined;
  try {
    await using herald = await startHerald({
      ...{ apis: 1, workers: 0, env: ENV },
      redis: { appendonly: true, outlivesFullDisk: true },
    });
    outcome = await runOn(herald, plan, { seed, seconds }, say);
    logs = herald.logs();
  } catch (error) {
    if (!outcome) throw error;
    late.push(`the end was not clean: ${messageOf(error)}`);
  }
  return { outcome: { ...outcome, violations: [...outcome.violations, ...late] }, logs };
}

async function runOn(
  herald: Herald,
  plan: readonly Action[],
  { seed, seconds }: Pick<ChaosOptions, 'seed' | 'seconds'>,
  say: (line: string) => void,
): Promise<Outcome> {
  const moody = Array.from({ length: RECEIVERS }, createMoodyReceiver);
  const origins = await Promise.all(moody.map(({ respond }) => herald.startReceiver(respond)));
  const workspaces = await foundWorkspaces(herald, origins, createRandom(seed, 'workspaces'));
  const endpoints = new Map<string, KnownEndpoint>();
  const know = (endpoint: KnownEndpoint) => void endpoints.set(endpoint.path, endpoint);
  workspaces.flatMap(({ receivers }) => receivers).forEach(know);
  await herald.apis[0]?.stop(); // it served the set-up; from here on processes reach Redis by their own ways

  await using fleet = await startFleet(herald);
  const ledger = createLedger();
  const givingUp = new AbortController();
  const insist = createInsist({ herald, fleet, ledger, random: createRandom(seed, 'routes'), signal: givingUp.signal });
  const reporter = createFactReporter(herald.executor.key, insist, ledger);
  const load = startLoad({ insist, origins, onCallback: know, seed, workspaces, reporter, ledger });
  const redis = createRedisFaults(herald.server, herald.redis);
  say(`${plan.length} faults in ${seconds} s`);
  await runPlan(
    plan,
    seconds,
    {
      begin: async (action) => {
        if (action.kind === 'process') await fleet.beginProcessFault(action.slot, action.fault);
        else if (action.kind === 'link') fleet.beginLinkFault(action.slot, action.fault);
        else if (action.kind === 'redis') {
          fleet.setRedisFault(true);
          await redis.begin(action.fault);
        } else moody[action.index]?.set(action.mood);
      },
      end: async (action) => {
        if (action.kind === 'process') await fleet.endProcessFault(action.slot, action.fault);
        else if (action.kind === 'link') fleet.endLinkFault(action.slot);
        else if (action.kind === 'redis') {
          await redis.end(action.fault);
          fleet.setRedisFault(false);
        } else moody[action.index]?.set('good');
      },
    },
    say,
  );
  const healedAt = performance.now();
  say('everything is well again; waiting until nothing is left to do');
  const timer = setTimeout(() => {
    givingUp.abort(new Error('no answer, although all had been well for long'));
  }, RECOVERY_DEADLINE_MS);
  await load.stop();
  clearTimeout(timer);
  const left = await waitUntilNothingIsLeft(herald.redis, RECOVERY_DEADLINE_MS);
  const recoveryMs = performance.now() - healedAt;
  const verdict = judgeRun({
    ...{ facts: ledger.facts, endpoints, records: await readRecords(herald.redis) },
    arrivals: moody.flatMap(({ arrivals }) => arrivals),
    triesOfSchedule: SCHEDULE.length + 1,
    latestAfterMs: LONGEST_PAUSE_MS + LATE_MS,
  });
  return {
    ...{ seed, seconds, plan: plan.map(describeAction), recoveryMs, fleet: { ...fleet.counts } },
    redisFaults: plan.filter(({ kind }) => kind === 'redis').length,
    ledger: ledger.counts,
    counts: verdict.counts,
    violations: [
      ...(left === undefined ? [] : [left]),
      ...fleet.violations,
      ...ledger.violations,
      ...verdict.violations,
    ],
  };
}
