import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, guessMinutes, type Lengths, lengthsOf, type ScenarioName } from './options.ts';
import { formatTable, type Table } from './table.ts';
import { besideTable, type Compared, type ScenarioOutcome, type TargetRow } from './targets.ts';

type BenchRun = {
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

export type ScenarioOptions = Lengths & Pick<BenchOptions, 'builds' | 'variants' | 'profile'>;

export type ScenarioRun = {
  readonly options: ScenarioOptions;
  /** Prints the current step. */
  readonly say: (line: string) => void;
};

type ScenarioResult = {
  readonly tables: readonly Table[];
  /** The single measurements behind the tables. */
  readonly raw: object;
  /** Its figures for the targets, which `targets.ts` judges. */
  readonly targets: readonly TargetRow[];
  /** Its comparison with the other build, if there is one. */
  readonly compared?: readonly Compared[];
};
export type Scenario = (run: ScenarioRun) => Promise<ScenarioResult>;

/**
 * Starts watching the load of other programs. The result returns their share of this machine since then, 0 to 1; NaN
 * where there is no /proc. Call it only after all processes that were started meanwhile have ended: until then they
 * count as others.
 */
function startForeignLoad(): () => number {
  const before = readTicks();
  const startedAt = performance.now();
  return () => {
    const after = readTicks();
    const availableTicks = ((performance.now() - startedAt) / 10) * cpus().length;
    return Math.max(0, after.busy - before.busy - (after.own - before.own)) / availableTicks;
  };
}

/** In units of 10 ms: the whole machine, and this process with its ended children. */
function readTicks(): { busy: number; own: number } {
  try {
    const [user = 0, nice = 0, system = 0] = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '')
      .split(' ')
      .map(Number);
    const self = readFileSync('/proc/self/stat', 'latin1');
    const fields = self.slice(self.lastIndexOf(')') + 2).split(' ');
    return {
      busy: user + nice + system,
      own: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
    };
  } catch {
    return { busy: NaN, own: NaN };
  }
}

type Results = {
  readonly options: BenchOptions;
  readonly tables: readonly Table[];
  readonly raw: object;
  readonly outcomes: readonly ScenarioOutcome[];
  /** Share of the processors that other programs used, 0 to 1. */
  readonly foreign: number;
};

/** Writes the measurements, with a description of the machine. Returns the file. */
export async function writeResults(folder: string, results: Results): Promise<string> {
  const takenAt = new Date().toISOString();
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${takenAt.slice(0, 19).replaceAll(':', '-')}.json`);
  await writeFile(file, `${JSON.stringify({ takenAt, machine: describeMachine(), ...results }, undefined, 2)}\n`);
  return file;
}

export function describeMachine() {
  const processors = cpus();
  return {
    cpus: processors.length,
    model: processors[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}
