const MINUTE_MS = 60_000;

/**
 * Counters are one string for each thing that is counted: a header, the counters of the present minute, and slots. A slot
 * is one bucket of one window, and has the number of the bucket and its counters. Each window has its own ring of slots:
 * a new bucket takes the slot after the last one, so a string is only as long as its use needs.
 *
 * An attempt counts in the present minute alone. When another begins, its counters go to the buckets of all windows that
 * it lies in. The header has the number of the present minute, that of the last one that was put away, and the newest slot
 * of each ring.
 */
export const HEADER_BYTES = 12;
/** Counters in a slot. */
export const FIELDS = 24;
/** Nothing does so much in two hours that it overflows. */
export const COUNTER_BITS = 28;
export const COUNTERS_BYTES = (FIELDS * COUNTER_BITS) / 8;
/** Where the slots begin. */
export const SLOTS_AT = HEADER_BYTES + COUNTERS_BYTES;
/** The number of the bucket. */
const STAMP_BYTES = 4;
export const SLOT_BYTES = STAMP_BYTES + COUNTERS_BYTES;

/** The rings in the order in which their slots alternate. */
export const RINGS: readonly StatsWindow[] = ['1h', '24h', '7d'];

/** A bucket of a window, and its counters. */
export type CountedBucket = {
  /** Epoch ms. */
  readonly at: number;
  readonly counts: readonly number[];
};

const NOTHING: readonly number[] = Array.from({ length: FIELDS }, () => 0);

/**
 * The buckets of a window that ends with the present one, oldest first. Without a string nothing was counted.
 * @param now epoch ms
 */
export function readCounters(text: Buffer | null, window: StatsWindow, now: number): CountedBucket[] {
  const { buckets, bucketMs } = STATS_WINDOWS[window];
  const known = text ? readRing(text, RINGS.indexOf(window), buckets) : new Map<number, readonly number[]>();
  const present = text && readPresentMinute(text);
  const last = Math.floor(now / bucketMs);
  return Array.from({ length: buckets }, (_, index) => {
    const number = last - buckets + 1 + index;
    const at = number * bucketMs;
    const counts = known.get(number) ?? NOTHING;
    const hasPresent = present && present.at >= at && present.at < at + bucketMs;
    return { at, counts: hasPresent ? addCounts(counts, present.counts) : counts };
  });
}

/** Field by field. */
export function addCounts(a: readonly number[], b: readonly number[]): number[] {
  return Array.from({ length: FIELDS }, (_, field) => (a[field] ?? 0) + (b[field] ?? 0));
}

/** What no ring has yet. */
function readPresentMinute(text: Buffer): CountedBucket {
  return { at: text.readUInt32BE(0) * MINUTE_MS, counts: readCountersAt(text, HEADER_BYTES) };
}

/** The counters of a ring, by the numbers of the buckets. */
function readRing(text: Buffer, ring: number, size: number): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  for (let slot = 0; slot < size; slot++) {
    // A shorter ring leaves its places free.
    const offset = SLOTS_AT + (slot * RINGS.length + ring) * SLOT_BYTES;
    if (text.length < offset + SLOT_BYTES) break;
    found.set(text.readUInt32BE(offset), readCountersAt(text, offset + STAMP_BYTES));
  }
  return found;
}

/** Two counters of 28 bits take seven bytes. */
function readCountersAt(text: Buffer, start: number): number[] {
  const counters: number[] = [];
  // A chart reads a hundred slots, so this makes no list in between.
  for (let offset = start; offset < start + COUNTERS_BYTES; offset += 7) {
    counters.push(text.readUInt32BE(offset) >>> 4, text.readUInt32BE(offset + 3) & 0x0f_ff_ff_ff);
  }
  return counters;
}

/** How far back statistics look, and how long each of their buckets is. */
export const STATS_WINDOWS = {
  '1h': { buckets: 60, bucketMs: 60_000 },
  '24h': { buckets: 96, bucketMs: 900_000 },
  '7d': { buckets: 84, bucketMs: 7_200_000 },
} as const;
export type StatsWindow = keyof typeof STATS_WINDOWS;

// What the counters of an endpoint, and those of a shard, count.

/** The field of an endpoint's failed attempts, behind those of the durations of the successful ones. */
const FAILED = FIELDS - 1;
/** Up to 19 s, more than the usual deadline; the last one is open. */
export const ATTEMPT_BINS = createDurationBins({ first: 0, count: FAILED, factor: 1.6 });

/** Fields of a shard: deliveries accepted, failed attempts, deliveries that did not arrive at once. */
export const SHARD_FIELDS = { accepted: 0, failed: 1, deliveredLater: 2 } as const;
/** From acceptance to arrival, of deliveries that arrived at once: up to 8 minutes; the last one is open. */
export const ARRIVAL_BINS = createDurationBins({ first: 3, count: FIELDS - 3, factor: 2 });

/** What an attempt came to. Durations are in ms. */
type CountedAttempt = {
  readonly isSuccess: boolean;
  readonly durationMs: number;
  /** From acceptance to now, of a delivery that arrives at once. */
  readonly arrivedAfterMs: number | undefined;
};

/** The field that an attempt counts for among those of its endpoint, and that among those of the shard. */
export function fieldsOf({ isSuccess, durationMs, arrivedAfterMs }: CountedAttempt) {
  if (!isSuccess) return { field: FAILED, shardField: SHARD_FIELDS.failed };
  const shardField = arrivedAfterMs === undefined ? SHARD_FIELDS.deliveredLater : ARRIVAL_BINS.fieldOf(arrivedAfterMs);
  return { field: ATTEMPT_BINS.fieldOf(durationMs), shardField };
}

/** The failed attempts of an endpoint's bucket. */
export function failedOf(counts: readonly number[]): number {
  return counts[FAILED] ?? 0;
}

type DurationBinsOptions = {
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
    /**
     * What a share of the counted durations did not exceed, in whole ms: the end of their bin, since nothing more is known
     * of them. Undefined when none was counted; of the open bin its beginning and one.
     */
    quantile: (counts: readonly number[], share: number): number | undefined => {
      const rank = share * sum(counts);
      let below = 0;
      for (let bin = 0; bin < count; bin++) {
        const each = counts[first + bin] ?? 0;
        below += each;
        if (each > 0 && below >= rank) return bin < count - 1 ? Math.ceil(endOf(bin)) : Math.ceil(endOf(bin - 1)) + 1;
      }
      return undefined;
    },
    /** The longest duration that is told apart, in whole ms. */
    longest: Math.ceil(endOf(count - 2)),
  };
}
