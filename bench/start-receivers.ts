import { join } from 'node:path';
import { type CertificateAuthority, type LaunchedProcess, launchProcess, waitFor } from '@herald/test-kit';

/**
 * `hang` accepts and never answers, `fail` answers 500 at once, `retry-after` 503 with `Retry-After: 40`, `dribble` sends
 * its body a byte at a time, for ever, and a number answers 200 after so many ms.
 */
export type Behaviour = 'ok' | 'hang' | 'fail' | 'retry-after' | 'dribble' | number;

/** At every host the requests for this path are answered so, and not counted. */
export const RETRY_AFTER_PATH = '/retry-after';

export type ReceiversInput = {
  readonly certPem: string;
  readonly keyPem: string;
  readonly behaviours: readonly Behaviour[];
  /** Needs a JSON.parse per request. */
  readonly recordArrivals: boolean;
  readonly listenAt: string;
};

/** The event's `created_at` and the arrival of the first request's headers, both epoch ms, and the transition. */
export type Arrival = readonly [createdAt: number, arrivedAt: number, transitionId: string];

export type ReceiverState = {
  readonly requests: number;
  /** Different delivery ids. */
  readonly deliveries: number;
  /** Epoch ms; 0 before the first. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The time for which it has kept requests waiting for their answers, all together, in ms. */
  readonly heldMs: number;
  readonly arrivals?: readonly Arrival[];
};

export type Receivers = AsyncDisposable & {
  readonly pid: number;
  /** One for each behaviour, in order. Each has its own port, and so is a destination by itself. */
  readonly origins: readonly string[];
  /** Different deliveries of all receivers so far. */
  readonly count: () => Promise<number>;
  readonly read: () => Promise<readonly ReceiverState[]>;
};

type ReceiversOptions = {
  readonly ca: CertificateAuthority;
  readonly behaviours: readonly Behaviour[];
  readonly recordArrivals?: boolean;
  /** Loopback addresses at which they can be reached too. Default: none but 127.0.0.1. */
  readonly moreAddresses?: readonly string[];
  readonly nodeArgs?: readonly string[];
};

/** HTTPS receivers in a separate process, so that their CPU can be measured. */
export async function startReceivers(options: ReceiversOptions): Promise<Receivers> {
  const { ca, behaviours, recordArrivals = false, moreAddresses = [], nodeArgs } = options;
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: ['127.0.0.1', ...moreAddresses] });
  const listenAt = moreAddresses.length === 0 ? '127.0.0.1' : '0.0.0.0';
  const input: ReceiversInput = { certPem, keyPem, behaviours, recordArrivals, listenAt };
  let started: { origins: string[]; controlPort: number } | undefined;
  const onReply = (reply: unknown) => {
    started = reply as typeof started;
  };
  const program = await startProgram('receivers', input, onReply, nodeArgs);
  const { origins, controlPort } = await waitFor('the receivers to listen', () => started);
  const ask = async (path: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${controlPort}${path}`)).json();
  return {
    pid: program.pid,
    origins,
    count: async () => ((await ask('/count')) as { deliveries: number }).deliveries,
    read: async () => (await ask('/state')) as ReceiverState[],
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

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
