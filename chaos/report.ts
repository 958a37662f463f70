import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTable } from '../bench/table.ts';
import type { Outcome } from './run-chaos.ts';

const SHOWN = 10;

export function formatReport({
  seed,
  seconds,
  recoveryMs,
  fleet,
  redisFaults,
  ledger,
  counts,
  violations,
}: Outcome): string {
  const rows: [string, string | number][] = [
    ['processes killed', fleet.killed],
    ['processes stopped', fleet.stopped],
    ['processes paused', fleet.paused],
    ['connections cut, silenced or delayed', fleet.cut],
    ['starts refused (Redis away)', fleet.refusedToStart],
    ['stops that Redis, away, kept beyond their limit', fleet.lateStops],
    ['faults of Redis', redisFaults],
    ['requests refused (5xx)', ledger.refused],
    ['requests unanswered', ledger.unanswered],
    ['facts reported again on purpose', ledger.repeated],
    ['transitions accepted', counts.accepted],
    ['deliveries', counts.deliveries],
    ['… delivered', counts.delivered],
    ['… failed, schedule used up', counts.failed],
    ['… lost', counts.lost],
    ['arrivals', counts.arrivals],
    ['… duplicated, same id', counts.duplicated],
    ['… out of order', counts.outOfOrder],
    ['… answered 2xx, not recorded as delivered', counts.answeredButNotDelivered],
    ['recovery after the last fault, s', recoveryMs / 1_000],
  ];
  const table = formatTable({
    title: `Seed ${seed}, ${seconds} s`,
    columns: ['what', 'count'],
    rows: rows.map(([what, count]) => [what, Number.isInteger(count) ? String(count) : count]),
  });
  const verdict =
    violations.length === 0
      ? 'Nothing was lost, and every invariant holds.'
      : [
          `${violations.length} violations; again: npm run chaos -- --seconds ${seconds} --seed ${seed}`,
          ...violations.slice(0, SHOWN).map((each) => `  - ${each.split('\n', 1)[0] ?? ''}`),
        ].join('\n');
  return `${table}\n${verdict}`;
}

/** Writes what happened, and when something was wrong what all processes printed. Returns the file. */
export async function writeReport(folder: string, outcome: Outcome, logs: string): Promise<string> {
  const takenAt = new Date().toISOString();
  await mkdir(folder, { recursive: true });
  const base = join(folder, `${takenAt.slice(0, 19).replaceAll(':', '-')}-seed-${outcome.seed}`);
  await writeFile(`${base}.json`, `${JSON.stringify({ takenAt, ...outcome }, undefined, 2)}\n`);
  if (outcome.violations.length > 0) await writeFile(`${base}.log`, logs);
  return `${base}.json`;
}
