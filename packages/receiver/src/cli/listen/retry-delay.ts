const FIRST_MS = 500;
const MOST_MS = 30_000;
const JITTER = 0.2;

/** How long to wait before connecting again: twice as long each time, so that a Herald that starts isn't overrun. */
export function createRetryDelay(random: () => number = Math.random) {
  let nextMs = FIRST_MS;
  return {
    next(): number {
      const waitMs = nextMs * (1 + JITTER * (2 * random() - 1));
      nextMs = Math.min(MOST_MS, nextMs * 2);
      return Math.round(waitMs);
    },
    /** A connection was made. */
    reset(): void {
      nextMs = FIRST_MS;
    },
  };
}
