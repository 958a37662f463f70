import type { Schemas } from '../api/client.ts';

/**
 * Attempts a second in the last whole minute and the present one, and how long so many deliveries take at this pace if
 * no more come; undefined: nothing goes. @param stats those of an hour
 */
export function timeToSend(backlog: number, { buckets, until, bucketSeconds }: Schemas['Stats'], now = Date.now()) {
  const sent = buckets.slice(-2).reduce((sum, { delivered, failedAttempts }) => sum + delivered + failedAttempts, 0);
  const beganMs = Date.parse(until) - 2 * bucketSeconds * 1_000;
  const perSecond = sent / Math.min(2 * bucketSeconds, Math.max(bucketSeconds, (now - beganMs) / 1_000));
  return { perSecond, ms: perSecond > 0 ? Math.round((backlog / perSecond) * 1_000) : undefined };
}
