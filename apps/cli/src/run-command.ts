import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { CommanderError } from 'commander';
import {
  createReadInput,
  createRecordAct,
  createStartProgress,
  explainFailure,
  type InputStream,
} from './context/command-deps.ts';
import { createHeraldAccess, createServiceEnv } from './context/open-herald.ts';
import { createOutput, type OutputStream } from './context/create-output.ts';
import { createProgram } from './create-program.ts';

/** What a command needs of its process. */
export type CommandIo = {
  /** Called by the command that reads it. */
  readonly openStdin: () => InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
  /** The folder of `npm start`, which may or may not be there. */
  readonly localFolder: string;
  /** Calls back at the first Ctrl-C. */
  readonly onInterrupt: (listener: () => void) => void;
};

export type CommandEnd = {
  readonly code: number;
  /** A client that gave up has left timers and sockets, which would keep the process alive for seconds. */
  readonly hasLeftovers: boolean;
};

/**
 * Runs one command of `herald` to its end. What can be foreseen is said on stderr, and any other error is thrown.
 * @param args without the program's own name
 */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<CommandEnd> {
  const { openStdin, stdout, stderr, env, localFolder, onInterrupt } = io;
  let code = 0;
  const setExitCode = (next: number) => {
    code = next;
  };
  const serviceEnv = createServiceEnv({ env, localFolder, note: (text) => stderr.write(`${text}\n`) });
  const { openHerald, now } = createHeraldAccess(serviceEnv);
  const output = createOutput({ stdout, stderr, env, now, setExitCode });
  const startProgress = createStartProgress(stderr);
  const readInput = createReadInput(openStdin, stderr);
  try {
    const recordAct = createRecordAct(output);
    const deps = { openHerald, output, startProgress, readInput, recordAct, now, serviceEnv, onInterrupt, setExitCode };
    await createProgram(deps, { stdout, stderr }).parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has said what was wrong, or printed the help or the version.
    if (error instanceof CommanderError) setExitCode(error.exitCode);
    else output.problem(explainFailure(error));
    return { code, hasLeftovers: error instanceof RedisUnreachableError };
  }
  return { code, hasLeftovers: false };
}
