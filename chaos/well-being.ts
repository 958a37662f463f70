/** Since when something has been well. Times are by `performance.now`. */
export type WellBeing = {
  readonly fail: () => void;
  /** It is well again; it has come to itself after so long. */
  readonly recover: (afterMs: number) => void;
  /** In the future: it is still coming to itself. Infinity: it isn't well. */
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
 * Since when somebody has been able to work who needs several things to be well; undefined: nobody is.
 * @param needs of each, what must be well
 */
export function ableSince(needs: readonly (readonly WellBeing[])[], now: number): number | undefined {
  const since = needs.map((each) => Math.max(...each.map((one) => one.since)));
  const earliest = Math.min(...since);
  return earliest <= now ? earliest : undefined;
}
