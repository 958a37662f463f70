import { ApiAway, ApiProblem } from './api-problem.ts';

/** How often a page asks whether anything has happened. What nothing tells of is itself read as often. */
export const POLL_MS = 5_000;
/** How often a page asks at which nobody has done anything for a while, and nothing has happened. */
const QUIET_POLL_MS = 20_000;
const QUIET_AFTER_MS = 120_000;
/** How often what is on the screen is read again although nothing has happened: not every change is told. */
export const REREAD_MS = 300_000;
/** How often charts are: the shortest bucket takes a minute. */
export const CHART_POLL_MS = 60_000;
const SLOWEST_MS = 60_000;

/** How often to ask. @param quietMs how long nobody has done anything, and nothing has happened */
export function judgePace(quietMs: number): number {
  return quietMs < QUIET_AFTER_MS ? POLL_MS : QUIET_POLL_MS;
}

/** How often to read a chart. @param quietMs as of `judgePace` */
export function judgeChartPace(quietMs: number): number {
  return quietMs < QUIET_AFTER_MS ? CHART_POLL_MS : REREAD_MS;
}

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

let stirredAt = Date.now();

/** Somebody has done something with the page, or something has happened that it shows. */
export function stir(): void {
  stirredAt = Date.now();
}

/** For how long neither has been so, in ms. */
export function quietMs(): number {
  return Date.now() - stirredAt;
}

/** Notes what somebody does with the page. */
export function watchReader(): void {
  for (const event of ['pointermove', 'pointerdown', 'keydown', 'scroll', 'focus', 'visibilitychange']) {
    addEventListener(event, stir, { capture: true, passive: true });
  }
}
