import { Gauge } from 'prom-client';
import type { Clock } from './clock.ts';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** Shows how far this machine's clock is from Redis' time. */
export function addClockGauge(registry: MetricsRegistry, { skewMs }: Pick<Clock, 'skewMs'>): void {
  new Gauge({
    name: 'herald_clock_skew_seconds',
    help: "How far this machine's clock is ahead of Redis' time; negative: behind.",
    registers: [registry],
    collect() {
      this.set(skewMs() / 1_000);
    },
  });
}
