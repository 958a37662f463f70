import type { BenchOptions } from './read-options.ts';
import type { Table } from './table.ts';

export type ScenarioRun = {
  readonly options: BenchOptions;
  /** Says on the terminal what is being done. */
  readonly say: (line: string) => void;
};

/** `raw`: the single measurements behind the table. */
export type ScenarioResult = { readonly tables: readonly Table[]; readonly raw: object };
export type Scenario = (run: ScenarioRun) => Promise<ScenarioResult>;
