/** Since when a part has been healthy. Times are by `performance.now`. */
export type WellBeing = {
  readonly fail: () => void;
  /** The fault is over; recovery takes so long, in ms. */
  readonly recover: (afterMs: number) => void;
  /** A time in the future: it is still recovering. Infinity: it is unhealthy. */
  readonly since: number;
};

export function createWellBeing(now: () => number = () => performance.now()): WellBeing {
  let since = Infinity;
  return {
    fail() {
      since = Infinity;
    },
    recover(afterMs) {
      since = now() + afterMs;
    },
    get since() {
      return since;
    },
  };
}

/**
 * Since when some worker has been able to work; undefined: none is able.
 * @param needs for each worker, the parts that must be healthy
 */
export function ableSince(needs: readonly (readonly WellBeing[])[], now: number): number | undefined {
  const since = needs.map((each) => Math.max(...each.map((one) => one.since)));
  const earliest = Math.min(...since);
  return earliest <= now ? earliest : undefined;
}
