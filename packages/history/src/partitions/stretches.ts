import { z } from 'zod';
import { DAY_MS, startOf } from './partitions.ts';

/** A time, epoch ms: `to` is exclusive. */
export type Stretch = { readonly from: number; readonly to: number };

/** `isIndexed`: what was not delivered can be found by its index. */
export type KnownStretch = Stretch & { readonly isIndexed: boolean };

/** `newest`: most pages lie in the last days. `any`, newest first too, and `oldest`: one day is as likely as another. */
export type Order = 'newest' | 'any' | 'oldest';

/**
 * Days of the stretches that are read one after the other. A statement locks each of its days with all indexes, and
 * PostgreSQL has room for some 6,000 locks of all connections by default: of 30 days there are 200.
 */
const LENGTHS: Readonly<Record<Order, readonly number[]>> = { newest: [2, 8, 30], any: [30], oldest: [30] };

/** Divides a time at the ends of days. */
export function divideDays({ from, to }: Stretch, order: Order): Stretch[] {
  const lengths = LENGTHS[order];
  const stretches: Stretch[] = [];
  let [low, high] = [from, to];
  while (low < high) {
    const lengthMs = (lengths[stretches.length] ?? lengths.at(-1) ?? 1) * DAY_MS;
    if (order !== 'oldest') {
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

const DaysRow = z.object({ first: z.string().nullable(), last: z.string().nullable(), is_indexed: z.boolean() });

/** The time of the days that can be read, from what READ_DAYS returns. */
export function readDays([row]: readonly unknown[]): KnownStretch {
  const { first, last, is_indexed: isIndexed } = DaysRow.parse(row);
  if (first === null || last === null) return { from: 0, to: 0, isIndexed };
  return { from: startOf(first), to: startOf(last) + DAY_MS, isIndexed };
}
