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
  const isLogged = createLogLimit(1, WINDOW_MS, () => undefined);
  /** Reports on one way: the log names it, and its facts. */
  const reporting = <Reason extends string>(
    failed: (reason: Reason) => void,
    events: { readonly failed: string; readonly recovered: string },
    facts: object,
  ) => ({
    failed: ({ reason, detail }: OwnFaultError & { readonly reason: Reason }): void => {
      failed(reason);
      if (isLogged(`${events.failed} ${reason}`)) logger.warn(events.failed, { ...facts, reason, detail });
    },
    recovered: (): void => {
      if (isLogged(events.recovered)) logger.info(events.recovered, { ...facts });
    },
  });

  const metrics = createEgressMetrics(registry);
  const proxyMetrics = proxyAddress && createProxyMetrics(registry);
  const proxy =
    proxyAddress &&
    createProxy({
      address: proxyAddress,
      caPem: settings.caPem,
      report: reporting(
        (reason) => proxyMetrics?.failed(reason),
        { failed: 'egress.proxy_failed', recovered: 'egress.proxy_recovered' },
        // Without the credentials.
        { proxy: proxyAddress.host, port: proxyAddress.port },
      ),
    });
  const sender = createEgressSender({
    ...settings,
    proxy,
    deadlineMs: config.deliveryTimeoutMs,
    report: reporting(
      (reason) => {
        metrics.failed(reason);
      },
      { failed: 'egress.failed', recovered: 'egress.recovered' },
      {},
    ),
  });
  metrics.watch(() => sender.gate.failure() === undefined);
  if (proxy) proxyMetrics?.watch(() => !proxy.isDoubted());
  return {
    ...sender,
    proxy,
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
