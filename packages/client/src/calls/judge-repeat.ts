import type { ConnectionError } from '../errors/connection-error.ts';
import { ProblemError } from '../errors/problem-error.ts';

/** What a repeat of a call would mean. */
export type Repeatable = {
  /** The call has its effect once, however often it is sent. */
  readonly isSafe: boolean;
  readonly hasIdempotencyKey: boolean;
};

/** A proxy's words for a broken connection behind it, and Herald's for a moment without its store. */
const AWAY: readonly number[] = [502, 503, 504];

/** Whether to send a call again. After 429 nothing has happened, after the other faults it may have. */
export function judgeRepeat(fault: ProblemError | ConnectionError, { isSafe, hasIdempotencyKey }: Repeatable): boolean {
  if (!(fault instanceof ProblemError)) return isSafe;
  if (fault.status === 429) return true;
  // An earlier try is still in work, or its API has died: the key is free again after a minute at the latest.
  if (fault.code === 'request_in_progress') return hasIdempotencyKey;
  return isSafe && AWAY.includes(fault.status);
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * How long to wait before a repeat, counted from 1. It doubles, with jitter, so that many clients don't come back at the
 * same moment. The service is given the time that it asks for.
 */
export function repeatDelay(repeat: number, retryAfterMs: number | undefined, random: () => number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (repeat - 1));
  return (retryAfterMs ?? 0) + longest * (0.5 + random() / 2);
}
