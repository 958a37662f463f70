import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from './read-options.ts';
import type { Table } from './table.ts';
import type { ScenarioOutcome } from './targets-table.ts';

export type Results = {
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
