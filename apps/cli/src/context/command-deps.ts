import type { WithHerald } from './open-herald.ts';
import type { Output } from '../output/create-output.ts';
import type { StartProgress } from './start-progress.ts';

/** What a group of commands is made of. */
export type CommandDeps = {
  readonly withHerald: WithHerald;
  readonly output: Output;
  readonly startProgress: StartProgress;
  /** Epoch ms. */
  readonly now: () => number;
};

export type JsonOption = { json?: true };

/** Every command has it. */
export const JSON_OPTION = ['--json', 'print one JSON document, for programs'] as const;

/** The end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
