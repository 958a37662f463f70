import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { hasCode, messageOf } from './free-port.ts';
import { patient, waitFor } from './wait-for.ts';

export type RunningProcess = LaunchedProcess;

export interface ProcessOptions extends LaunchOptions {
  /** Ready when a line of either stream matches, or a GET of this URL answers 2xx. Without it: once it has started. */
  readyWhen?: ((line: string) => boolean) | string | URL;
  /** Default 30 s. */
  readyDeadlineMs?: number;
}

const POLL_TIMEOUT_MS = 2_000;

/** Starts a process and waits until it is ready. If it isn't in time, or ends, the error contains its last output. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { readyWhen, readyDeadlineMs = 30_000, onLine, ...launch } = options;
  let lineSeen = false;
  const launched = await launchProcess({
    ...launch,
    onLine: (line: OutputLine) => {
      if (typeof readyWhen === 'function') lineSeen ||= readyWhen(line.text);
      onLine?.(line);
    },
  });
  if (readyWhen === undefined) return launched;
  const isReady = typeof readyWhen === 'function' ? () => lineSeen : () => answersWell(readyWhen);
  const seen = { isReady: false };
  try {
    await waitFor(
      `${options.name} to be ready`,
      async () => (seen.isReady = await isReady()) || launched.hasExited(),
      readyDeadlineMs,
    );
    // One that has said its line may have done its work, too.
    if (!seen.isReady && launched.hasExited()) {
      const { code, signal } = await launched.exited;
      throw new Error(`${options.name} ended before it was ready, ${signal ?? `exit code ${code ?? 'unknown'}`}`);
    }
  } catch (error) {
    launched.kill('SIGKILL');
    await launched.exited;
    const reason = messageOf(error);
    throw new Error(`${reason}\n${launched.tail()}`, { cause: error });
  }
  return launched;
}

async function answersWell(url: string | URL): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(POLL_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // nobody listens yet; the deadline and the exit are watched by the caller
  }
}

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
  const stop = (deadlineMs = 30_000) => (stopping ??= stopWithin(patient(deadlineMs)));
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

// Reads the groups from its input. The input ends when our process is gone, even after SIGKILL.
const WATCHER_SH = `
groups=
while read -r verb group; do
  if [ "$verb" = guard ]; then groups="$groups $group"; continue; fi
  left=
  for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done
  groups=$left
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

const guarded = new Set<number>();
let watcher: { child: ChildProcess; input: Socket } | undefined;

/**
 * Has a process group killed as soon as this process is gone. One small shell watches all groups. It has its own group,
 * so that a Ctrl-C doesn't reach it, and ends with the last released group.
 */
function guardProcessGroup(group: number): void {
  guarded.add(group);
  watcher ??= startWatcher();
  watcher.input.write(`guard ${group}\n`);
}

/** Ends the guard. Call it as soon as the group's leader is gone: the system may reuse its number. */
function releaseProcessGroup(group: number): void {
  if (!guarded.delete(group)) return;
  watcher?.input.write(`release ${group}\n`);
  if (guarded.size > 0) return;
  watcher?.input.end();
  watcher = undefined;
}

function startWatcher(): { child: ChildProcess; input: Socket } {
  const child = spawn('/bin/sh', ['-c', WATCHER_SH], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const input = child.stdin;
  if (!(input instanceof Socket))
    throw new Error('a pipe to a child is a socket, and only a socket can be unreferenced');
  const started = { child, input };
  const lost = (why: unknown) => {
    if (watcher !== started) return;
    watcher = undefined;
    process.emitWarning(`processes started by ${process.pid} may outlive it, their watcher is gone: ${String(why)}`);
  };
  child.once('error', lost).once('exit', lost);
  input.once('error', lost);
  child.unref();
  input.unref();
  return started;
}
