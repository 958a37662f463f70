import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in constant time. False when their lengths differ. */
export function isEqual(given: string, expected: string): boolean {
  // The length is no secret. This check avoids a copy of a huge header.
  if (given.length !== expected.length) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
