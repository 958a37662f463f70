import { messageOf } from './errors.ts';
import { launchProcess, type LaunchedProcess, type LaunchOptions, type OutputLine } from './launch-process.ts';
import { waitFor } from './wait-for.ts';

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
