import type { Evidence } from './evidence.ts';
import { WORKER_SLOTS } from './plan.ts';

/** Windows in which arrivals are counted, in s. */
const WINDOWS_S = [1, 10];

/**
 * Receivers that got more in a window than their rate allows: a burst of one second, and the rate from then on. What was
 * redelivered waits for no rate. A worker that stood still, or was cut off from Redis, sends what it had reserved before:
 * a burst at most. A failover may forget that a burst was sent.
 */
export function judgeRates({ endpoints, arrivals, redeliveries, mayForgetUnanswered }: Evidence): string[] {
  const askedFor = new Set(redeliveries.map(({ deliveryId }) => deliveryId));
  const byPath = Map.groupBy(arrivals, ({ request }) => request.path);
  const lateBursts = WORKER_SLOTS.length + (mayForgetUnanswered ? 1 : 0);
  return endpoints.flatMap(({ id, path, rateLimit }) => {
    if (!rateLimit) return [];
    const limited = (byPath.get(path) ?? []).filter(({ deliveryId }) => !askedFor.has(deliveryId));
    const times = limited.map(({ request }) => request.receivedAt).sort((a, b) => a - b);
    return WINDOWS_S.flatMap((seconds) => {
      const most = rateLimit.perSecond * (1 + seconds + lateBursts);
      const count = countMost(times, seconds * 1_000);
      return count > most ? [`${id} got ${count} requests in ${seconds} s, and may get ${most}`] : [];
    });
  });
}

/** The most of these sorted times in one window. */
function countMost(times: readonly number[], windowMs: number): number {
  let [first, most] = [0, 0];
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? time) >= windowMs) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
