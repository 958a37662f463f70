import { createEgressSender, type EgressSender } from '@herald/egress/create-egress';
import { createProxy, type EgressProxy } from '@herald/egress/create-proxy';
import type { OwnFaultError } from '@herald/egress/egress-errors';
import type { WorkerConfig } from '@herald/config/worker-config';
import type { Logger } from '@herald/runtime/log/logger';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { createLogLimit } from '@herald/runtime/log/create-log-limit';
import { createEgressMetrics, createProxyMetrics } from './create-egress-metrics.ts';

type OpenEgressDeps = {
  readonly config: Pick<WorkerConfig, 'egress' | 'deliveryTimeoutMs'>;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
};

/** The way out of this worker. It tells operators how it does. */
export type Egress = EgressSender & {
  /** Undefined: everything goes out directly. */
  readonly proxy: EgressProxy | undefined;
  /** One listener hears when everything must wait, and when it may go on. */
  readonly watch: (listener: (isOpen: boolean) => void) => void;
};

/** Every delivery fails while nothing goes out: one line in this time tells of all with the same reason, in ms. */
const WINDOW_MS = 10_000;

export function openEgress({ config, logger, registry }: OpenEgressDeps): Egress {
  const { proxyAddress, ...settings } = config.egress;
  const limit = createLogLimit(1, WINDOW_MS, () => undefined);
  /** Reports on one way out. */
  const reporting = <Reason extends string>(
    way: string,
    count: (reason: Reason) => void,
    log: {
      readonly failed: (facts: { readonly reason: string; readonly detail: string | undefined }) => void;
      readonly recovered: () => void;
    },
  ) => ({
    failed: ({ reason, detail }: OwnFaultError & { readonly reason: Reason }): void => {
      count(reason);
      if (limit.admits(`${way} ${reason}`)) log.failed({ reason, detail });
    },
    recovered: (): void => {
      if (limit.admits(way)) log.recovered();
    },
  });

  const metrics = createEgressMetrics(registry);
  const proxyMetrics = proxyAddress && createProxyMetrics(registry);
  // Without the credentials.
  const place = proxyAddress && { proxy: proxyAddress.host, port: proxyAddress.port };
  const proxy =
    proxyAddress &&
    createProxy({
      address: proxyAddress,
      caPem: settings.caPem,
      report: reporting('proxy', (reason) => proxyMetrics?.failed(reason), {
        failed: (facts) => {
          logger.warn('egress.proxy_failed', { ...place, ...facts });
        },
        recovered: () => {
          logger.info('egress.proxy_recovered', { ...place });
        },
      }),
    });
  const sender = createEgressSender({
    ...settings,
    proxy,
    deadlineMs: config.deliveryTimeoutMs,
    report: reporting('machine', metrics.failed, {
      failed: (facts) => {
        logger.warn('egress.failed', facts);
      },
      recovered: () => {
        logger.info('egress.recovered');
      },
    }),
  });
  metrics.watch(() => sender.gate.failure() === undefined);
  if (proxy) proxyMetrics?.watch(() => !proxy.isDoubted());
  return {
    ...sender,
    proxy,
    close(): void {
      sender.close();
      limit.close();
    },
    watch(listener) {
      const gates = [sender.gate, ...(proxy ? [proxy] : [])];
      const tell = (): void => {
        listener(gates.every((gate) => gate.isOpen()));
      };
      for (const gate of gates) gate.watch(tell);
      // It may have been shut before anybody listened.
      if (!gates.every((gate) => gate.isOpen())) tell();
    },
  };
}
