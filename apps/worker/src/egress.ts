import type { WorkerConfig } from '@herald/config/worker-config';
import { createEgressSender, type EgressGate, type EgressSender } from '@herald/egress/create-egress';
import { createProxy, type EgressProxy } from '@herald/egress/create-proxy';
import {
  EGRESS_FAILURES,
  PROXY_FAILURES,
  type EgressFailure,
  type OwnFaultError,
  type ProxyFailure,
} from '@herald/egress/egress-errors';
import { error, type Finding } from '@herald/runtime/finding';
import { createLogLimit, type Logger } from '@herald/runtime/log';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';
import { Gauge } from '@prometheus-io/client';

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

// For the open page: they name neither an address nor credentials.

const OF_MACHINE: Readonly<Record<EgressFailure, string>> = {
  resolver_away: 'no resolver answers',
  resolver_refuses: 'the resolver answers nothing that it is asked',
  no_route: 'no route leads out of this machine',
  no_descriptors: 'the process has no file descriptors left',
  no_authorities: 'no certificate authority is trusted, so no certificate can be right',
};

const OF_PROXY: Readonly<Record<ProxyFailure, string>> = {
  lookup_failed: 'has a name without an address',
  connect_failed: 'takes no connections',
  tls_failed: 'fails at TLS: its certificate is not trusted or for another host, or it speaks none',
  timed_out: 'gives no answer in time',
  closed: 'closes connections without an answer',
  malformed_answer: 'answers something else than HTTP',
  unauthenticated: 'refuses the credentials (407)',
  refused: 'refuses tunnels',
};

/** Why nothing goes out, while this machine or the proxy fails. */
export function findEgressProblem(gate: EgressGate, proxy: EgressProxy | undefined): Finding | undefined {
  const ofMachine = gate.failure();
  if (ofMachine) return error('egress_away', `${OF_MACHINE[ofMachine.reason]}; deliveries wait and spend no try`);
  const ofProxy = proxy?.isDoubted() ? proxy.failure() : undefined;
  if (ofProxy === undefined) return undefined;
  const sentence = `the proxy of EGRESS_PROXY_URL ${OF_PROXY[ofProxy.reason]}; deliveries wait and spend no try`;
  return error('egress_proxy', sentence);
}

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
