import type { OpenHerald } from './open-herald.ts';
import type { Output } from '../output/create-output.ts';
import type { StartProgress } from './start-progress.ts';

export type CommandDeps = {
  readonly openHerald: OpenHerald;
  readonly output: Output;
  readonly startProgress: StartProgress;
  readonly env: NodeJS.ProcessEnv;
  /** Epoch ms. */
  readonly now: () => number;
};

/** `createProgram` gives every command the option --json. */
export type JsonOption = { json?: true };

/** The end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
