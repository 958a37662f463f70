import type { Evidence } from './evidence.ts';

/**
 * Tolerance between times of one machine and noted times of requests, in ms: seconds are truncated, and clocks drift.
 */
const TOLERANCE_MS = 2_000;

/** Checks that no wrong clock has an effect: signatures and stored acceptances have the right time. */
export function judgeTimes({ facts, arrivals, records, latestAfterMs, mayForgetUnanswered }: Evidence): string[] {
  const signed = arrivals.flatMap(({ deliveryId, request: { headers, receivedAt } }) => {
    const aheadMs = Number(headers['webhook-timestamp']) * 1_000 - receivedAt;
    if (aheadMs <= TOLERANCE_MS && aheadMs >= -latestAfterMs - TOLERANCE_MS) return [];
    return [`${deliveryId} was signed with a time that is ${aheadMs} ms ahead`];
  });
  // A transition that a failover lost is accepted again later.
  const accepted = (mayForgetUnanswered ? [] : records).flatMap(({ id, transitionId, createdAt }) => {
    const fact = facts.get(transitionId);
    if (!fact || (createdAt >= fact.from - TOLERANCE_MS && createdAt <= fact.by + TOLERANCE_MS)) return [];
    return [`${id} was accepted at ${createdAt}, and between ${fact.from} and ${fact.by} in truth`];
  });
  return [...signed, ...accepted];
}
