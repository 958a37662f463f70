import { launchProcess, type LaunchedProcess } from '@herald/test-kit';
import { join } from 'node:path';

/** Starts one of `programs/`, which gets its input as JSON and prints JSON lines. */
export function startProgram(
  name: string,
  input: object,
  onReply?: (reply: unknown) => void,
  nodeArgs: readonly string[] = [],
): Promise<LaunchedProcess> {
  return launchProcess({
    name,
    command: process.execPath,
    args: ['--conditions=source', ...nodeArgs, join(import.meta.dirname, 'programs', `${name}.ts`)],
    env: { BENCH_INPUT: JSON.stringify(input), NODE_ENV: 'production' },
    onLine: ({ stream, text }) => {
      if (stream === 'stdout') onReply?.(JSON.parse(text));
    },
  });
}

/** Runs one of `programs/` to its end; the last line it prints is its result. */
export async function runProgram(name: string, input: object, deadlineMs = 120_000): Promise<unknown> {
  let result: unknown;
  await using program = await startProgram(name, input, (reply) => {
    result = reply;
  });
  const timer = setTimeout(() => {
    program.kill();
  }, deadlineMs);
  const { code } = await program.exited;
  clearTimeout(timer);
  if (code !== 0 || result === undefined) throw new Error(`${name} gave no result\n${program.tail()}`);
  return result;
}
