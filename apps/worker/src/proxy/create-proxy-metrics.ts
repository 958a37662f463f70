import { PROXY_FAILURES, type ProxyFailure } from '@herald/egress/egress-errors';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { Gauge } from 'prom-client';

/** Counts what the platform's own proxy fails at. A worker without one has no such metrics. */
export function createProxyMetrics(registry: MetricsRegistry) {
  const failures = createCounter(
    registry,
    'herald_egress_proxy_failures_total',
    'Tunnels that the proxy of EGRESS_PROXY_URL did not make, and looks at it that failed; no try is spent.',
    ['reason'],
    PROXY_FAILURES.map((reason) => ({ reason })),
  );
  return {
    failed(reason: ProxyFailure): void {
      failures({ reason });
    },
    /** Every scrape calls `isUp`. */
    watch(isUp: () => boolean): void {
      new Gauge({
        name: 'herald_egress_proxy_up',
        help: 'Whether the proxy of EGRESS_PROXY_URL works for this worker.',
        registers: [registry],
        collect() {
          this.set(isUp() ? 1 : 0);
        },
      });
    },
  };
}
