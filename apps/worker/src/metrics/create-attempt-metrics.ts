import { isSuccess, outcomeClassOf, type CountedOutcome, type DeliveryEvent } from '@herald/core';
import { Gauge, Histogram } from '@prometheus-io/client';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** Seconds: from loopback to the longest timeout in use. */
const SEND_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** Seconds: from the first try to the last one of the default schedule. */
const LATENCY_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400, 432_000,
];

/** Counts the sends of a worker and their outcomes. */
export function createAttemptMetrics(registry: MetricsRegistry) {
  const registers = [registry];
  const attempts = createCounter(
    registry,
    'herald_attempts_total',
    'Requests made, by the class of the status or the error code that came of them.',
    ['event', 'outcome'],
  );
  const breakers = createCounter(
    registry,
    'herald_breaker_changes_total',
    "Receivers' breakers that opened, and that closed again.",
    ['to'],
    [{ to: 'opened' }, { to: 'closed' }],
  );
  const duration = new Histogram({
    name: 'herald_send_duration_seconds',
    help: 'Duration of one request to an endpoint.',
    labelNames: ['outcome'] as const,
    buckets: SEND_BUCKETS,
    registers,
  });
  const latency = new Histogram({
    name: 'herald_delivery_latency_seconds',
    help: 'Time from acceptance (or replay) of a transition to its delivery, of what was delivered.',
    labelNames: ['event'] as const,
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const counts = new Map<number, () => number>();
  new Gauge({
    name: 'herald_sends_in_flight',
    help: 'Sends in flight in this worker.',
    labelNames: ['shard'],
    registers,
    collect() {
      for (const [shard, count] of counts) this.set({ shard: String(shard) }, count());
    },
  });
  return {
    attempted(event: DeliveryEvent, outcome: CountedOutcome, durationMs: number): void {
      attempts({ event, outcome: outcomeClassOf(outcome) });
      duration.observe({ outcome: isSuccess(outcome) ? 'success' : 'failure' }, durationMs / 1_000);
    },
    /** @param latencyMs since acceptance, or since the replay that set it pending again; below 0 where clocks differ */
    delivered(event: DeliveryEvent, latencyMs: number): void {
      latency.observe({ event }, Math.max(0, latencyMs) / 1_000);
    },
    breakerChanged(to: 'opened' | 'closed'): void {
      breakers({ to });
    },
    /** Shows the sends in flight of a shard. Every scrape calls `count`. */
    watchInFlight(shard: number, count: () => number): void {
      counts.set(shard, count);
    },
  };
}
export type AttemptMetrics = ReturnType<typeof createAttemptMetrics>;
