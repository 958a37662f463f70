import { besideTable } from './beside-table.ts';
import { startForeignLoad } from './foreign-load.ts';
import { guessMinutes, lengthsOf } from './lengths.ts';
import type { BenchOptions } from './read-options.ts';
import type { ScenarioName } from './scenario-names.ts';
import type { Scenario } from './scenario.ts';
import { formatTable, type Table } from './table.ts';
import type { ScenarioOutcome } from './targets-table.ts';

export type BenchRun = {
  readonly outcomes: readonly ScenarioOutcome[];
  readonly tables: readonly Table[];
  /** Share of the processors that other programs used from the first to the last, 0 to 1. */
  readonly foreign: number;
  /** By scenario. */
  readonly raw: Readonly<Record<string, unknown>>;
};

/** Runs the chosen scenarios one after the other. It reports a failed one, and goes on. */
export async function runScenarios(
  scenarios: Readonly<Record<ScenarioName, Scenario>>,
  options: BenchOptions,
  print: (text: string) => void,
): Promise<BenchRun> {
  const { scenarios: names, isQuick, builds, variants, profile } = options;
  const [, beside] = builds;
  const outcomes: ScenarioOutcome[] = [];
  const tables: Table[] = [];
  const raw: Record<string, unknown> = {};
  const startedAt = performance.now();
  const foreignOfAll = startForeignLoad();
  for (const [index, name] of names.entries()) {
    const minutes = Math.round((performance.now() - startedAt) / 60_000);
    const own = guessMinutes([name], isQuick) * builds.length;
    print(`\n${name}: ${index + 1} of ${names.length}, after ${minutes} min; by itself about ${formatMinutes(own)}`);
    const lengths = { ...lengthsOf(name, isQuick), ...options.lengths };
    const foreignLoad = startForeignLoad();
    try {
      const say = (line: string) => {
        print(`… ${line}`);
      };
      const result = await scenarios[name]({ options: { ...lengths, builds, variants, profile }, say });
      const foreign = foreignLoad();
      const compared = beside ? [besideTable(beside.folder, result.compared ?? [])] : [];
      const all = [...result.tables, ...compared];
      for (const table of all) print(formatTable(table));
      print(`Meanwhile other programs used ${Math.round(foreign * 100)} % of this machine's processors.`);
      tables.push(...all);
      raw[name] = { lengths, foreign, ...result.raw };
      outcomes.push({ name, foreign, targets: result.targets });
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      print(`${name} FAILED: ${text}`);
      raw[name] = { lengths, error: text };
      outcomes.push({ name, foreign: foreignLoad(), error: error instanceof Error ? error.message : text });
    }
  }
  return { outcomes, tables, foreign: foreignOfAll(), raw };
}

export function formatMinutes(minutes: number): string {
  return minutes < 1 ? `${Math.round(minutes * 60)} s` : `${Math.round(minutes)} min`;
}
