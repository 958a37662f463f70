import type { WithHerald } from './open-herald.ts';
import type { Output } from '../output/create-output.ts';
import type { StartProgress } from './start-progress.ts';

export type CommandDeps = {
  readonly withHerald: WithHerald;
  readonly output: Output;
  readonly startProgress: StartProgress;
  readonly env: NodeJS.ProcessEnv;
  /** Epoch ms. */
  readonly now: () => number;
};

export type JsonOption = { json?: true };

/** An option of every command. */
export const JSON_OPTION = ['--json', 'print one JSON document, for programs'] as const;

/** The end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
