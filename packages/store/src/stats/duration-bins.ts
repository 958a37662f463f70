export type DurationBinsOptions = {
  /** The field of the shortest durations. */
  readonly first: number;
  readonly count: number;
  /** How much longer each bin reaches than the one before. */
  readonly factor: number;
};

/**
 * Counters of durations, each for a range that is longer by a factor. Field `first` is for up to 1 ms, the next for up to
 * `factor` ms, and so on; the last is open.
 */
export function createDurationBins({ first, count, factor }: DurationBinsOptions) {
  const endOf = (bin: number) => factor ** bin;
  // Loops without intermediate lists: a chart asks for the quantiles of each of its buckets.
  const sum = (counts: readonly number[]): number => {
    let total = 0;
    for (let bin = 0; bin < count; bin++) total += counts[first + bin] ?? 0;
    return total;
  };
  return {
    fieldOf: (ms: number): number => {
      const bin = ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(factor) - 1e-9);
      return first + Math.min(bin, count - 1);
    },
    sum,
    /** The duration, in ms, that a share of the counted ones did not exceed. Undefined when none was counted. */
    quantile: (counts: readonly number[], share: number): number | undefined => {
      const rank = share * sum(counts);
      let below = 0;
      for (let bin = 0; bin < count; bin++) {
        const each = counts[first + bin] ?? 0;
        if (each > 0 && below + each >= rank) {
          const from = bin === 0 ? 0 : endOf(bin - 1);
          // Those of a bin count as spread evenly. Of the last one only the beginning is known.
          const within = bin === count - 1 ? 0 : (rank - below) / each;
          return Math.round(from + (endOf(bin) - from) * within);
        }
        below += each;
      }
      return undefined;
    },
  };
}
