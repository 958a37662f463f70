const FIRST_MS = 500;
const LIMIT_MS = 60_000;

/**
 * How long to put a job back after an internal error, in ms: doubling from half a second to a minute, the upper half
 * of it at random. Nothing of the receiver's schedule is spent.
 * @param errors errors in a row, this one included
 * @param random uniform in [0, 1)
 */
export function internalErrorDelayMs(errors: number, random: number): number {
  const limit = Math.min(FIRST_MS * 2 ** Math.min(errors - 1, 10), LIMIT_MS);
  return Math.round(limit * (0.5 + random / 2));
}
