import type { ScenarioName } from './scenario-names.ts';
import type { Cell, Table } from './table.ts';
import type { TargetRow } from './targets.ts';

/** The result of one scenario. `foreign`: share of the processors that other programs used meanwhile, 0 to 1. */
export type ScenarioOutcome = { readonly name: ScenarioName; readonly foreign: number } & (
  | { readonly targets: readonly TargetRow[] }
  | { readonly error: string }
);

/** A run, and the share of the processors that other programs used over all of it. */
export type JudgedRun = { readonly outcomes: readonly ScenarioOutcome[]; readonly foreign: number };

/** Every target of a run in one table. */
export function targetsTable({ outcomes, foreign: ofAll }: JudgedRun, isQuick: boolean): Table {
  const foreign = outcomes.map(({ name, foreign }) => `${name} ${toPercent(foreign)}`).join(', ');
  return {
    title: isQuick ? 'Targets, of a quick run: it shows that all of it works, and proves none of them' : 'Targets',
    columns: ['what', 'measured', 'its floor', 'ratio', 'target', 'met'],
    rows: outcomes.flatMap(toRows),
    notes: [`Used by other programs meanwhile, of all processors: ${toPercent(ofAll)} (${foreign}).`],
  };
}

function toRows(outcome: ScenarioOutcome): Cell[][] {
  if ('error' in outcome) return [[outcome.name, 'FAILED', NaN, NaN, outcome.error.split('\n')[0] ?? '', 'no']];
  return outcome.targets.map(({ row, measured, floor, ratio, target, isMet }) => [
    ...[row, measured, floor, ratio, target],
    isMet ? 'yes' : 'NO',
  ]);
}

function toPercent(share: number): string {
  return Number.isNaN(share) ? 'unknown' : `${Math.round(share * 100)} %`;
}
