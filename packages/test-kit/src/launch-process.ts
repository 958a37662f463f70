import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { hasCode } from './errors.ts';
import { guardProcessGroup, releaseProcessGroup } from './guard-process-group.ts';

export interface LaunchOptions {
  /** The name in messages: "api", "worker". */
  name: string;
  command: string;
  args?: readonly string[];
  /**
   * The whole environment of the process, except for PATH and where compiled code is kept, which are inherited: no
   * variable of a test runner leaks in.
   */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Runs it as this user and group, which only root may do. Default: the current user. */
  uid?: number;
  onLine?: (line: OutputLine) => void;
  /** Lets it write to our terminal: no line is kept then, and `onLine` gets none. */
  inheritOutput?: boolean;
  /** Most lines that are kept; the oldest are dropped first. Default 100,000. */
  keptLines?: number;
}

export interface OutputLine {
  stream: 'stdout' | 'stderr';
  text: string;
}

export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface LaunchedProcess extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  /** Both streams, in the order of arrival. */
  output(): string;
  /** The last lines of the output, as a paragraph for an error. */
  tail(): string;
  /** Resolves when the process is gone and all of its output has arrived; never rejects. */
  readonly exited: Promise<ProcessExit>;
  hasExited(): boolean;
  /** Sends a signal (default SIGKILL) only to this process, and returns at once; wait for `exited`. */
  kill(signal?: NodeJS.Signals): void;
  /**
   * Sends SIGTERM and waits (default 30 s); may be called twice. A process that ignores SIGTERM is killed: an error.
   */
  stop(deadlineMs?: number): Promise<ProcessExit>;
}

const TAIL_LINES = 40;

/**
 * Starts a real process as the leader of its own group. A Ctrl-C at the terminal doesn't reach it, its children end
 * with it, and all of them end with this process.
 */
export async function launchProcess(options: LaunchOptions): Promise<LaunchedProcess> {
  const { name, command, args = [], env = {}, cwd, uid, onLine, inheritOutput = false, keptLines = 100_000 } = options;
  const output = inheritOutput ? 'inherit' : 'pipe';
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid, gid: uid }),
    detached: true,
    stdio: ['ignore', output, output],
  });
  const pid = child.pid;
  if (pid === undefined) {
    const [error] = await new Promise<[Error]>((resolve) =>
      child.once('error', (failure) => {
        resolve([failure]);
      }),
    );
    throw new Error(`${name} could not be started: ${error.message}`, { cause: error });
  }
  guardProcessGroup(pid);

  const lines: OutputLine[] = [];
  const collect = (stream: OutputLine['stream']) => {
    const input = child[stream];
    if (input === null) return; // inherited
    createInterface({ input, crlfDelay: Infinity }).on('line', (text) => {
      lines.push({ stream, text });
      if (lines.length > keptLines) lines.shift();
      onLine?.({ stream, text });
    });
  };
  collect('stdout');
  collect('stderr');

  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      signalIfThere(-pid, 'SIGKILL'); // what it left behind, which would also hold its output open
      releaseProcessGroup(pid);
    });
    child.once('close', (code, signal) => {
      resolve({ code, signal });
    });
  });
  const textOf = (stream: OutputLine['stream']) => lines.filter((line) => line.stream === stream).map((l) => l.text);
  const tail = () => {
    const last = lines.slice(-TAIL_LINES).map(({ text }) => `  ${name} | ${text}`);
    return last.length === 0 ? `  ${name} printed nothing` : last.join('\n');
  };
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    if (exit === undefined) signalIfThere(pid, signal);
  };
  const stopWithin = async (deadlineMs: number) => {
    kill('SIGTERM');
    kill('SIGCONT'); // one that a test has paused couldn't hear it
    const timeout = Promise.withResolvers<'late'>();
    const timer = setTimeout(() => {
      timeout.resolve('late');
    }, deadlineMs);
    const end = await Promise.race([exited, timeout.promise]);
    clearTimeout(timer);
    if (end !== 'late') return end;
    signalIfThere(-pid, 'SIGKILL');
    await exited;
    throw new Error(`${name} did not stop within ${deadlineMs} ms of SIGTERM and was killed\n${tail()}`);
  };
  let stopping: Promise<ProcessExit> | undefined;
  // Only one SIGTERM: many processes end at once after a second one.
  const stop = (deadlineMs = 30_000) => (stopping ??= stopWithin(deadlineMs));
  return {
    name,
    pid,
    get stdout() {
      return textOf('stdout');
    },
    get stderr() {
      return textOf('stderr');
    },
    output: () => lines.map(({ text }) => text).join('\n'),
    tail,
    exited,
    hasExited: () => exit !== undefined,
    kill,
    stop,
    async [Symbol.asyncDispose]() {
      if (exit === undefined) await stop();
      else await exited;
    },
  };
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // ESRCH: already gone. EPERM: on macOS, a group of which only the leader is left, not collected yet.
    if (hasCode(error, 'ESRCH', 'EPERM')) return;
    throw error;
  }
}
