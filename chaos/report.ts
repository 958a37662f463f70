import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTable } from '../bench/table.ts';
import type { Outcome, Run } from './run-chaos.ts';
import { describeScenario } from './scenario.ts';

const SHOWN = 10;

/** The command that repeats a run. */
export function commandOf({ seed, seconds, scenario }: Run): string {
  return `npm run chaos -- --seconds ${seconds} --seed ${seed} --topology ${scenario.topology} --${scenario.history ? '' : 'no-'}history`;
}

export function formatReport(outcome: Outcome): string {
  const {
    looks,
    longestWaitMs,
    seed,
    seconds,
    scenario,
    recoveryMs,
    fleet,
    redisFaults,
    history,
    failovers,
    moves,
    askedAgain,
    ledger,
    counts,
    violations,
  } = outcome;
  const rows: (readonly [string, string | number])[] = [
    ['processes killed', fleet.killed],
    ['processes stopped', fleet.stopped],
    ['processes paused', fleet.paused],
    ['connections cut, silenced or delayed', fleet.cut],
    ['connections that died in silence, of so many processes', fleet.forgotten],
    ['clocks that jumped or went too fast', fleet.misset],
    ['starts refused (Redis away)', fleet.refusedToStart],
    ['faults of Redis', redisFaults],
    ['… failovers', failovers],
    ['… shards moved to another master', moves],
    ...(history
      ? ([
          ['faults of PostgreSQL', history.faults],
          ['deliveries in the history', history.rows],
          ['pages of lists read', history.pages],
          ['… that say that the history is away', history.partial],
          ['lists read whole while deliveries moved', history.whole],
          ['requests refused, the history being away', ledger.historyAway],
        ] as const)
      : []),
    ['requests refused (5xx)', ledger.refused],
    ['requests unanswered', ledger.unanswered],
    ['reports of the flooding workspace refused, it being full', ledger.full],
    ['facts reported again on purpose', ledger.repeated],
    ['receivers changed, registered, removed', ledger.changes],
    ['redeliveries asked for', askedAgain.redeliveries],
    ['replays asked for', askedAgain.replays],
    ['transitions accepted', counts.accepted],
    ['deliveries', counts.deliveries],
    ['… delivered', counts.delivered],
    ['… failed, schedule used up', counts.failed],
    ['… canceled, receiver disabled or removed', counts.canceled],
    ['… lost', counts.lost],
    ['arrivals', counts.arrivals],
    ['… duplicated, same id', counts.duplicated],
    ['… out of order', counts.outOfOrder],
    ['… told anew after a failover', counts.toldAnew],
    ['… answered 2xx, not recorded as delivered', counts.answeredButNotDelivered],
    ['arrivals with a secret whose showing was lost', counts.notVerifiable],
    ['looks at the queue while a worker lived', looks],
    ['longest wait of what might go, s', longestWaitMs / 1_000],
    ['recovery after the last fault, s', recoveryMs / 1_000],
  ];
  const table = formatTable({
    title: `Seed ${seed}, ${seconds} s, ${describeScenario(scenario)}`,
    columns: ['what', 'count'],
    rows: rows.map(([what, count]) => [what, Number.isInteger(count) ? String(count) : count]),
  });
  const verdict =
    violations.length === 0
      ? 'Nothing was lost, and every invariant holds.'
      : [
          `${violations.length} violations; again: ${commandOf(outcome)}`,
          ...violations.slice(0, SHOWN).map((each) => `  - ${each.split('\n', 1)[0] ?? ''}`),
        ].join('\n');
  return `${table}\n${verdict}`;
}

/** Writes the report; after a problem also the output of all processes. Returns the file. */
export async function writeReport(folder: string, outcome: Outcome, logs: string): Promise<string> {
  const takenAt = new Date().toISOString();
  await mkdir(folder, { recursive: true });
  const file = `${baseOf(folder, outcome.seed, takenAt)}.json`;
  await writeFile(file, `${JSON.stringify({ takenAt, ...outcome }, undefined, 2)}\n`);
  if (outcome.violations.length > 0) await writeFile(file.replace(/json$/, 'log'), logs);
  return file;
}

/** Writes the output of all processes of a run without a verdict. Returns the file. */
export async function writeLogs(folder: string, seed: number, logs: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = `${baseOf(folder, seed, new Date().toISOString())}.log`;
  await writeFile(file, logs);
  return file;
}

const baseOf = (folder: string, seed: number, takenAt: string) =>
  join(folder, `${takenAt.slice(0, 19).replaceAll(':', '-')}-seed-${seed}`);
