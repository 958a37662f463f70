import { timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same, in a time that tells nothing of where they differ. False for another length. */
export function isEqual(given: string, expected: string): boolean {
  // Lengths are no secret; without this a huge header would be copied first.
  if (given.length !== expected.length) return false;
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
