import { createProxy, type EgressProxy } from '@herald/egress/create-proxy';
import type { ProxyAddress } from '@herald/egress/proxy-url';
import type { Logger } from '@herald/runtime/log/logger';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { createLogLimit } from '@herald/runtime/log/create-log-limit';
import { createProxyMetrics } from './create-proxy-metrics.ts';

export type OpenProxyDeps = {
  readonly address: ProxyAddress;
  /** An authority to trust besides the usual ones, in PEM. */
  readonly caPem: string | undefined;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
};

/** Every delivery fails while the proxy is away: one line in this time tells of all with the same reason, in ms. */
const WINDOW_MS = 10_000;

/** The platform's own proxy, which tells operators how it does. */
export function openProxy({ address, caPem, logger, registry }: OpenProxyDeps): EgressProxy {
  const metrics = createProxyMetrics(registry);
  const isLogged = createLogLimit(1, WINDOW_MS, () => undefined);
  // Without the credentials.
  const facts = { proxy: address.host, port: address.port };
  const proxy = createProxy({
    address,
    caPem,
    report: {
      failed: ({ reason, detail }) => {
        metrics.failed(reason);
        if (isLogged(reason)) logger.warn('egress.proxy_failed', { ...facts, reason, detail });
      },
      recovered: () => {
        if (isLogged('recovered')) logger.info('egress.proxy_recovered', facts);
      },
    },
  });
  metrics.watch(() => !proxy.isDoubted());
  return proxy;
}
