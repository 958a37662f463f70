import { EGRESS_FAILURES, PROXY_FAILURES } from '@herald/egress/egress-errors';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { Gauge } from '@prometheus-io/client';

/** Counts what this machine's own way out fails at. */
export function createEgressMetrics(registry: MetricsRegistry) {
  return createWayMetrics(registry, EGRESS_FAILURES, {
    name: 'herald_egress',
    failures: 'Failures of the resolver, the routes or the descriptors of this worker; no try is spent.',
    up: 'Whether this worker can send at all, without a look at the proxy.',
  });
}

/** Counts what the platform's own proxy fails at. A worker without one has no such metrics. */
export function createProxyMetrics(registry: MetricsRegistry) {
  return createWayMetrics(registry, PROXY_FAILURES, {
    name: 'herald_egress_proxy',
    failures: 'Tunnels that the proxy of EGRESS_PROXY_URL did not make, and looks at it that failed; no try is spent.',
    up: 'Whether the proxy of EGRESS_PROXY_URL works for this worker.',
  });
}

function createWayMetrics<Reason extends string>(
  registry: MetricsRegistry,
  reasons: readonly Reason[],
  texts: { readonly name: `herald_${string}`; readonly failures: string; readonly up: string },
) {
  const { name } = texts;
  const failures = createCounter(
    registry,
    `${name}_failures_total`,
    texts.failures,
    ['reason'],
    reasons.map((reason) => ({ reason })),
  );
  return {
    failed: (reason: Reason): void => {
      failures({ reason });
    },
    /** Every scrape calls `isUp`. */
    watch(isUp: () => boolean): void {
      new Gauge({
        name: `${name}_up`,
        help: texts.up,
        registers: [registry],
        collect() {
          this.set(isUp() ? 1 : 0);
        },
      });
    },
  };
}
