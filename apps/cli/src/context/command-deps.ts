import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { DomainError, ReceiverDisabledError, ReceiverLockedError } from '@herald/core';
import { ConfigError } from '@herald/runtime/env';
import { createAuditTrail, type NewAuditEntry } from '@herald/store/access/audit-trail';
import { createKeyspace } from '@herald/store/keys/keys';
import { RedisUnreachableError } from '@herald/store/redis/connect-redis';
import { isRedisRefusal, isRedisUnavailable, sayRefusal } from '@herald/store/redis/refusal';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { Presets, SingleBar } from 'cli-progress';
import type { Output, OutputStream } from './create-output.ts';
import type { Herald, OpenHerald, ServiceEnv } from './open-herald.ts';

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

/** What a command has done. */
type Act = Pick<NewAuditEntry, 'action' | 'target' | 'workspaceId' | 'fields' | 'reason'>;

/**
 * Notes in the audit trail what a command has done: after it is done, and before the command says so. When that fails,
 * the change stands, and the exit code is 1.
 */
export function createRecordAct(output: Pick<Output, 'problem'>) {
  return async (herald: Pick<Herald, 'redis' | 'awaitReplication' | 'config' | 'now'>, act: Act): Promise<void> => {
    try {
      // By the data, since some commands work with any SHARDS. Until it has a number, all goes to the first shard.
      const { count = 1, movingTo } = await createShardRecordStore(herald.redis).read();
      if (movingTo !== undefined) throw new ConfigError('The data is being resharded.');
      const trail = createAuditTrail({ ...herald, keyspace: createKeyspace(count), length: herald.config.auditLength });
      await trail.add({ by: 'cli', user: systemUser(), ...act });
    } catch (error) {
      output.problem(`This is done, but the audit trail doesn't say so. ${explainFailure(error)}`);
    }
  };
}
type RecordAct = ReturnType<typeof createRecordAct>;

/** The name of the user of this process. In a container it may have a number alone. */
export function systemUser(read: () => { readonly username: string } = userInfo): string {
  try {
    return read().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** A stream of the process, or one that a test writes. */
export type InputStream = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Characters that are read. What is asked for has some dozens. */
const INPUT_LIMIT = 4_096;

/**
 * Reads what stands on standard input, without blanks around it. On a terminal it asks for one line, and doesn't show
 * what is typed.
 */
export function createReadInput(openStdin: () => InputStream, stderr: OutputStream) {
  return async function readInput(question: string): Promise<string> {
    const stdin = openStdin();
    const text = stdin.isTTY === true ? await readLine(stdin, stderr, question) : await readToEnd(stdin);
    return text.trim();
  };
}
type ReadInput = ReturnType<typeof createReadInput>;

async function readToEnd(stdin: InputStream): Promise<string> {
  stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > INPUT_LIMIT) break;
  }
  return text;
}

async function readLine(stdin: InputStream, stderr: OutputStream, question: string): Promise<string> {
  stderr.write(question);
  const silent = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const lines = createInterface({ input: stdin, output: silent, terminal: true, historySize: 0 });
  const text = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    // Ctrl-C, Ctrl-D
    lines.once('SIGINT', () => {
      lines.close();
    });
    lines.once('close', () => {
      resolve('');
    });
  });
  lines.close();
  stderr.write('\n');
  return text;
}

/** Shows bars on the stderr of a terminal, so that programs can read stdout. Elsewhere it shows nothing. */
export function createStartProgress(stderr: OutputStream) {
  return (format: string) => {
    const bar = new SingleBar({ format, stream: stderr, clearOnComplete: true }, Presets.shades_classic);
    return {
      show: (done: number, total: number, words: Readonly<Record<string, string | number>> = {}): void => {
        if (stderr.isTTY !== true) return;
        // The first call brings the words that the format needs.
        if (!bar.isActive) bar.start(Math.max(1, total), done, words);
        bar.setTotal(Math.max(1, total));
        bar.update(done, words);
      },
      stop: (): void => {
        if (bar.isActive) bar.stop();
      },
    };
  };
}
export type StartProgress = ReturnType<typeof createStartProgress>;

/** A sentence about what can be foreseen. @throws the error itself, when it is unforeseen */
export function explainFailure(error: unknown): string {
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
