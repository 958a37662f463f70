import type { Compared } from './beside-table.ts';
import type { Lengths } from './lengths.ts';
import type { BenchOptions } from './read-options.ts';
import type { Table } from './table.ts';
import type { TargetRow } from './targets.ts';

export type ScenarioOptions = Lengths & Pick<BenchOptions, 'builds' | 'variants' | 'profile'>;

export type ScenarioRun = {
  readonly options: ScenarioOptions;
  /** Says on the terminal what is being done. */
  readonly say: (line: string) => void;
};

export type ScenarioResult = {
  readonly tables: readonly Table[];
  /** The single measurements behind the tables. */
  readonly raw: object;
  /** What it has to say of the targets, which `targets.ts` judges. */
  readonly targets: readonly TargetRow[];
  /** Its figures beside the other build's, when there is one. */
  readonly compared?: readonly Compared[];
};
export type Scenario = (run: ScenarioRun) => Promise<ScenarioResult>;
