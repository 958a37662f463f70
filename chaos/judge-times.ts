import type { Evidence } from './evidence.ts';

/** By so much the times of one machine may differ from those that were noted of requests, in ms: seconds are cut off, and clocks drift. */
const TOLERANCE_MS = 2_000;

/** Nobody's wrong clock shows: what is signed, and what is kept of an acceptance, has the right time. */
export function judgeTimes({ facts, arrivals, records, latestAfterMs, mayForgetUnanswered }: Evidence): string[] {
  const signed = arrivals.flatMap(({ deliveryId, request: { headers, receivedAt } }) => {
    const aheadMs = Number(headers['webhook-timestamp']) * 1_000 - receivedAt;
    if (aheadMs <= TOLERANCE_MS && aheadMs >= -latestAfterMs - TOLERANCE_MS) return [];
    return [`${deliveryId} was signed with a time that is ${aheadMs} ms ahead`];
  });
  // What a failover forgot is accepted anew, later.
  const accepted = (mayForgetUnanswered ? [] : records).flatMap(({ id, transitionId, createdAt }) => {
    const fact = facts.get(transitionId);
    if (!fact || (createdAt >= fact.from - TOLERANCE_MS && createdAt <= fact.by + TOLERANCE_MS)) return [];
    return [`${id} was accepted at ${createdAt}, and between ${fact.from} and ${fact.by} in truth`];
  });
  return [...signed, ...accepted];
}
