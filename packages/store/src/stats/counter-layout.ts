import { STATS_WINDOWS, type StatsWindow } from './stats-window.ts';

/**
 * Counters are one string for each thing that is counted. Behind a header it has slots. A slot is one bucket of one
 * window, and has the number of the bucket and FIELDS counters. Each window has its own ring of slots: a new bucket takes
 * the slot after the last one, so a string is as long as the busiest ring needs, and what is rarely used stays small.
 *
 * The header has the number of the present minute and the present slot in each ring. While the minute is the same, so are
 * the buckets of all windows.
 */
export const HEADER_BYTES = 8;
/** Counters in a slot. */
export const FIELDS = 24;
/** Nothing does so much in two hours that it overflows. */
export const COUNTER_BITS = 28;
/** The number of the bucket. */
export const STAMP_BYTES = 4;
export const SLOT_BYTES = STAMP_BYTES + (FIELDS * COUNTER_BITS) / 8;

/** The rings in the order in which their slots alternate. */
export const RINGS: readonly StatsWindow[] = ['1h', '24h', '7d'];

/** Where a slot begins. A shorter ring leaves its places free. */
export function slotOffset(ring: number, slot: number): number {
  return HEADER_BYTES + (slot * RINGS.length + ring) * SLOT_BYTES;
}

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
  const last = Math.floor(now / bucketMs);
  return Array.from({ length: buckets }, (_, index) => {
    const number = last - buckets + 1 + index;
    return { at: number * bucketMs, counts: known.get(number) ?? NOTHING };
  });
}

/** The counters of a ring, by the numbers of the buckets. */
function readRing(text: Buffer, ring: number, size: number): Map<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  for (let slot = 0; slot < size; slot++) {
    const offset = slotOffset(ring, slot);
    if (text.length < offset + SLOT_BYTES) break;
    found.set(text.readUInt32BE(offset), readSlot(text, offset + STAMP_BYTES));
  }
  return found;
}

/** Two counters of 28 bits take seven bytes. */
function readSlot(text: Buffer, start: number): number[] {
  return Array.from({ length: FIELDS / 2 }, (_, pair) => {
    const offset = start + pair * 7;
    return [text.readUInt32BE(offset) >>> 4, text.readUInt32BE(offset + 3) & 0x0f_ff_ff_ff];
  }).flat();
}
