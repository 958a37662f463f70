import { ApiAway, ApiProblem } from './api-problem.ts';

/** How often a page asks whether anything has happened. What nothing tells of is itself read as often. */
export const POLL_MS = 5_000;
/** How often what is on the screen is read again although nothing has happened. */
export const REREAD_MS = 60_000;
/** How often charts are: a bucket takes at least a minute. */
export const CHART_POLL_MS = 60_000;
const SLOWEST_MS = 60_000;

/** Whether the same request may succeed later without anybody's help. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ApiAway) return true;
  return error instanceof ApiProblem && (error.status === 429 || error.status >= 500);
}

/** How long to wait before the next try: as long as the service says, and the longer, the more tries have failed. */
export function judgeWait(failures: number, error: unknown): number {
  const asked = error instanceof ApiProblem ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, Math.min(SLOWEST_MS, POLL_MS * 2 ** Math.min(failures, 6)));
}
