import { STATS_WINDOWS, type StatsWindow } from './stats-window.ts';

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
