import type { RecordAct } from './record-act.ts';
import type { OpenHerald } from './open-herald.ts';
import type { Output } from '../output/create-output.ts';
import type { ReadInput } from './read-input.ts';
import type { ServiceEnv } from './service-env.ts';
import type { StartProgress } from './start-progress.ts';

export type CommandDeps = {
  readonly openHerald: OpenHerald;
  readonly output: Output;
  readonly startProgress: StartProgress;
  /** Every command that has changed something calls it, once. */
  readonly recordAct: RecordAct;
  readonly serviceEnv: ServiceEnv;
  /** Epoch ms. */
  readonly now: () => number;
  readonly readInput: ReadInput;
  /** Calls back at the first Ctrl-C. */
  readonly onInterrupt: (listener: () => void) => void;
  readonly setExitCode: (code: number) => void;
};

/** `createProgram` gives every command the option --json. */
export type JsonOption = { json?: true };

/** The end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
