import { DomainError, ReceiverDisabledError, ReceiverLockedError } from '@herald/core';
import { ConfigError } from '@herald/runtime/env/env';
import { isRedisRefusal, isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { sayRefusal } from '@herald/store/server/refusal';
import { CommanderError } from 'commander';
import { createHeraldAccess } from './context/open-herald.ts';
import { createOutput, type OutputStream } from './output/create-output.ts';
import { createProgram } from './create-program.ts';
import { createReadInput, type InputStream } from './context/read-input.ts';
import { createServiceEnv } from './context/service-env.ts';
import { createStartProgress } from './context/start-progress.ts';

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
    const deps = { openHerald, output, startProgress, readInput, now, serviceEnv, onInterrupt, setExitCode };
    await createProgram(deps, { stdout, stderr }).parseAsync(args, { from: 'user' });
  } catch (error) {
    // Commander has said what was wrong, or printed the help or the version.
    if (error instanceof CommanderError) setExitCode(error.exitCode);
    else output.problem(explain(error));
    return { code, hasLeftovers: error instanceof RedisUnreachableError };
  }
  return { code, hasLeftovers: false };
}

/** @throws the error itself, when it is unforeseen */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof RedisUnreachableError) return error.message;
  if (error instanceof ReceiverDisabledError) {
    const { endpointId } = error;
    return `error: ${endpointId} is disabled; enable it first: herald receivers enable ${endpointId}`;
  }
  if (error instanceof ReceiverLockedError) {
    const { endpointId, reason } = error;
    const why = reason === '' ? '' : ` (${reason})`;
    return `error: ${endpointId} is locked${why}; lift the lock first: herald receivers enable ${endpointId}`;
  }
  if (error instanceof DomainError) return `error: ${error.message}`;
  // Only the message: the error also holds the command, and with it the digest of a key or an encrypted secret.
  if (isRedisRefusal(error)) return `Redis refused: ${sayRefusal(error)}`;
  if (isRedisUnavailable(error)) return 'Redis stopped answering. Run this again when it is back.';
  throw error;
}
