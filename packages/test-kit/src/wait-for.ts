import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';

/** The value that a probe finds. */
type Seen<T> = Exclude<T, undefined | null | false>;

export interface WaitOptions<T> {
  /** Polls until this holds. Without it any value but undefined, null and false ends the wait. */
  until?: (seen: Seen<T>) => boolean;
  /** Default 10 s. Longer on a slow machine, as `patient` says. */
  deadlineMs?: number;
}

/** How long tests wait in place of so many ms: `HERALD_TEST_PATIENCE` times as long, where a run has found its machine slow. */
export function patient(ms: number): number {
  return ms * Number(process.env.HERALD_TEST_PATIENCE ?? 1);
}

const OVERDUE = Symbol('the probe has not answered yet');
const LONGEST_PAUSE_MS = 100;

/**
 * Polls until the probe finds a value, and returns that. A probe that throws ends the wait at once with its own error.
 * When the deadline passes, the error names the awaited and the last value.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: number | WaitOptions<T> = {},
): Promise<Seen<T>> {
  const { until = () => true, ...limit } = typeof options === 'number' ? { deadlineMs: options } : options;
  const deadlineMs = patient(limit.deadlineMs ?? 10_000);
  const endsAt = performance.now() + deadlineMs;
  let last: T | typeof OVERDUE = OVERDUE;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const seen = await answerBefore(endsAt, probe);
    if (seen !== OVERDUE && isSeen(seen) && until(seen)) return seen;
    if (seen !== OVERDUE) last = seen;
    if (seen === OVERDUE || performance.now() >= endsAt) {
      const said = last === OVERDUE ? 'nothing, the probe itself never answered' : inspect(last, { depth: 4 });
      throw new Error(`waited ${deadlineMs} ms for ${what}; last seen: ${said}`);
    }
    await pause(Math.min(pauseMs, Math.max(0, endsAt - performance.now())));
  }
}

function isSeen<T>(value: T): value is Seen<T> {
  return value !== undefined && value !== null && value !== false;
}

async function answerBefore<T>(endsAt: number, probe: () => T | Promise<T>): Promise<T | typeof OVERDUE> {
  const answered = new AbortController();
  const overdue = pause(Math.max(1, endsAt - performance.now()), OVERDUE, { signal: answered.signal });
  overdue.catch(() => undefined); // the abort below, when the probe was first
  try {
    return await Promise.race([probe(), overdue]);
  } finally {
    answered.abort();
  }
}
