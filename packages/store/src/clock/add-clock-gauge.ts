import { Gauge } from '@prometheus-io/client';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** Every scrape calls `skewMs`. */
export function addClockGauge(registry: MetricsRegistry, skewMs: () => number): void {
  new Gauge({
    name: 'herald_clock_skew_seconds',
    help: "How far this machine's clock is ahead of Redis' time; negative: behind.",
    registers: [registry],
    collect() {
      this.set(skewMs() / 1_000);
    },
  });
}
