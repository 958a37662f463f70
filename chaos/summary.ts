import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatTable } from '../bench/table.ts';
import { commandOf } from './report.ts';
import type { Outcome, Spoiled } from './run-chaos.ts';
import { describeScenario } from './scenario.ts';

type Column = readonly [name: string, of: (outcome: Outcome) => number];

const COUNTS: readonly Column[] = [
  ['killed', ({ fleet }) => fleet.killed],
  ['stopped', ({ fleet }) => fleet.stopped],
  ['faults of Redis', ({ redisFaults }) => redisFaults],
  ['failovers', ({ failovers }) => failovers],
  ['moves', ({ moves }) => moves],
  ['accepted', ({ counts }) => counts.accepted],
  ['deliveries', ({ counts }) => counts.deliveries],
  ['lost', ({ counts }) => counts.lost],
  ['duplicated', ({ counts }) => counts.duplicated],
  ['out of order', ({ counts }) => counts.outOfOrder],
];

/** A table of runs, and the commands that repeat those with problems or without a verdict. */
export function formatSummary(outcomes: readonly Outcome[], spoiled: readonly Spoiled[]): string {
  const rows = outcomes.map((outcome) => [
    String(outcome.seed),
    describeScenario(outcome.scenario),
    ...COUNTS.map(([, of]) => toText(of(outcome))),
    (outcome.longestWaitMs / 1_000).toFixed(1),
    toText(Math.round(outcome.recoveryMs / 1_000)),
    toText(outcome.violations.length),
  ]);
  const sums = COUNTS.map(([, of]) => toText(outcomes.reduce((sum, outcome) => sum + of(outcome), 0)));
  const longest = Math.max(0, ...outcomes.map(({ recoveryMs }) => Math.round(recoveryMs / 1_000)));
  const longestWait = Math.max(0, ...outcomes.map(({ longestWaitMs }) => longestWaitMs / 1_000)).toFixed(1);
  const violations = outcomes.reduce((sum, outcome) => sum + outcome.violations.length, 0);
  const seconds = outcomes.reduce((sum, outcome) => sum + outcome.seconds, 0);
  const wrong = outcomes.filter((outcome) => outcome.violations.length > 0);
  const notes = [
    ...wrong.map((outcome) => `Seed ${outcome.seed} went wrong; again: ${commandOf(outcome)}`),
    ...spoiled.map(({ run, reason }) => `Seed ${run.seed} came to no verdict (${reason}); again: ${commandOf(run)}`),
  ];
  return formatTable({
    title: `${outcomes.length} runs, ${seconds} s of faults`,
    columns: ['seed', 'scenario', ...COUNTS.map(([name]) => name), 'longest wait, s', 'recovery, s', 'violations'],
    rows: [...rows, ['all', '', ...sums, `at most ${longestWait}`, `at most ${longest}`, toText(violations)]],
    notes: notes.length === 0 ? ['Nothing was lost, and every invariant holds.'] : notes,
  });
}

/** Writes the table, and all results beside it. Returns the file of the table. */
export async function writeSummary(
  folder: string,
  outcomes: readonly Outcome[],
  spoiled: readonly Spoiled[],
): Promise<string> {
  const takenAt = new Date().toISOString();
  await mkdir(folder, { recursive: true });
  const base = join(folder, `${takenAt.slice(0, 19).replaceAll(':', '-')}-summary`);
  await writeFile(`${base}.md`, `${formatSummary(outcomes, spoiled).trim()}\n`);
  await writeFile(`${base}.json`, `${JSON.stringify({ takenAt, outcomes, spoiled }, undefined, 2)}\n`);
  return `${base}.md`;
}

const toText = (count: number) => count.toLocaleString('en');
