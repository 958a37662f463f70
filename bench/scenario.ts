import type { Compared } from './beside-table.ts';
import type { Lengths } from './lengths.ts';
import type { BenchOptions } from './read-options.ts';
import type { Table } from './table.ts';
import type { TargetRow } from './targets.ts';

export type ScenarioOptions = Lengths & Pick<BenchOptions, 'builds' | 'variants' | 'profile'>;

export type ScenarioRun = {
  readonly options: ScenarioOptions;
  /** Prints the current step. */
  readonly say: (line: string) => void;
};

export type ScenarioResult = {
  readonly tables: readonly Table[];
  /** The single measurements behind the tables. */
  readonly raw: object;
  /** Its figures for the targets, which `targets.ts` judges. */
  readonly targets: readonly TargetRow[];
  /** Its comparison with the other build, if there is one. */
  readonly compared?: readonly Compared[];
};
export type Scenario = (run: ScenarioRun) => Promise<ScenarioResult>;
