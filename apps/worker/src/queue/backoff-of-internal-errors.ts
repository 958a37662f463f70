const FIRST_MS = 500;
const LIMIT_MS = 60_000;

/**
 * How long a job waits after an internal error, in ms. The limit doubles from half a second to a minute, and the wait is a
 * random part of its upper half. It spends no try of the receiver's schedule.
 * @param errors errors in a row, this one included
 * @param random uniform in [0, 1)
 */
export function internalErrorDelayMs(errors: number, random: number): number {
  const limit = Math.min(FIRST_MS * 2 ** Math.min(errors - 1, 10), LIMIT_MS);
  return Math.round(limit * (0.5 + random / 2));
}
