import { spanText } from '@herald/runtime/text/span-text';

/** A time (epoch ms) relative to now: `3 min ago`, `in 5 h`, `now`. */
export function relativeText(at: number, now: number): string {
  const ms = now - at;
  if (Math.abs(ms) < 1_000) return 'now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(-ms)}`;
}

/** @param ms epoch ms */
export function toDate(ms: number | undefined): Date | undefined {
  return ms === undefined ? undefined : new Date(ms);
}
