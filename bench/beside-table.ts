import type { Cell, Table } from './table.ts';
import { judgeRounds, medianOfRounds, type Paired, type TargetName } from './targets.ts';

/** A figure of this build and of the other one (the floor of each pair), round by round. */
export type Compared = {
  readonly row: string;
  readonly rounds: readonly Paired[];
  readonly target: TargetName | undefined;
};

/** This build compared with another one. The ratio is the median of the rounds' ratios. */
export function besideTable(directory: string, compared: readonly Compared[]): Table {
  return {
    title: `This build beside ${directory}`,
    columns: ['what', 'this build', 'beside', 'ratio', 'least', 'most', 'target', 'met'],
    rows: compared.map(toRow),
    notes: [
      'Both builds took turns in the same run. ratio: this build / beside, median of the rounds; least and most: of one round.',
    ],
  };
}

function toRow({ row, rounds, target }: Compared): Cell[] {
  const { measured, floor, ratio } = medianOfRounds(rounds);
  const ratios = rounds.map((round) => round.measured / round.floor);
  const judged = target === undefined ? undefined : judgeRounds(target, row, rounds);
  const met = judged === undefined ? '' : judged.isMet ? 'yes' : 'NO';
  return [row, measured, floor, ratio, Math.min(...ratios), Math.max(...ratios), judged?.target ?? '', met];
}
