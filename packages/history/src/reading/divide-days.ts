import { DAY_MS } from '../partitions/partitions.ts';

/** A time, epoch ms: `to` is exclusive. */
export type Stretch = { readonly from: number; readonly to: number };

/**
 * Days of the stretches that are read one after the other. Most answers lie in the first. A statement locks each of its days
 * with all indexes, and PostgreSQL has room for some 6,000 locks of all connections by default: of 30 days there are 200.
 */
const LENGTHS = [2, 8, 30];

/** Divides a time at the ends of days: the newest first, or the oldest. */
export function divideDays({ from, to }: Stretch, order: 'newest' | 'oldest'): Stretch[] {
  const stretches: Stretch[] = [];
  let [low, high] = [from, to];
  while (low < high) {
    const lengthMs = (LENGTHS[stretches.length] ?? LENGTHS.at(-1) ?? 1) * DAY_MS;
    if (order === 'newest') {
      const begin = Math.max(low, Math.ceil(high / DAY_MS) * DAY_MS - lengthMs);
      stretches.push({ from: begin, to: high });
      high = begin;
    } else {
      const end = Math.min(high, Math.floor(low / DAY_MS) * DAY_MS + lengthMs);
      stretches.push({ from: low, to: end });
      low = end;
    }
  }
  return stretches;
}
