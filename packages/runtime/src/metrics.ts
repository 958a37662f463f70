import { collectDefaultMetrics, Counter, Gauge, Registry } from '@prometheus-io/client';
import { COMMIT, VERSION } from './version.ts';

export type MetricsRegistry = Registry;

/**
 * How often the event loop is looked at, in ms. No measured lag is shorter, and a process at rest wakes for little else:
 * at the library's 10 ms, each look costs half of its processor time.
 */
const EVENT_LOOP_EVERY_MS = 200;

/** A registry with the metrics of every process: its build, memory, CPU time, event loop and garbage collection. */
export function createMetricsRegistry(process: 'api' | 'worker'): MetricsRegistry {
  const registry = createBuildRegistry(process);
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: EVENT_LOOP_EVERY_MS,
    // Fifty times as long as by default: it, too, wakes the process.
    eventLoopUtilizationTimeout: 5_000,
  });
  return registry;
}

/** A registry with the build of a process alone. */
export function createBuildRegistry(process: 'api' | 'worker'): MetricsRegistry {
  const registry = new Registry();
  new Gauge({
    name: 'herald_build_info',
    help: 'Always 1; what runs here is in the labels.',
    labelNames: ['process', 'version', 'commit'],
    registers: [registry],
  }).set({ process, version: VERSION, commit: COMMIT }, 1);
  return registry;
}

/**
 * A counter as a function. The label sets of `from` are exported as 0 from the start: Prometheus sees no increase when
 * a new series begins at 1, so an alert on it would stay silent.
 */
export function createCounter<Label extends string>(
  registry: MetricsRegistry,
  name: `herald_${string}_total`,
  help: string,
  labelNames: readonly Label[],
  from: readonly Readonly<Record<Label, string>>[] = [],
) {
  const counter = new Counter<string>({ name, help, labelNames, registers: [registry] });
  for (const labels of from) counter.inc(labels, 0);
  return (labels: Readonly<Record<Label, string>>, by = 1): void => {
    counter.inc(labels, by);
  };
}

/**
 * Shows for how long certificates that this process relies on are still valid. Every scrape asks.
 * @param sources when each ends, epoch ms; undefined where there is none, or it isn't known
 */
export function addCertificateGauge(
  registry: MetricsRegistry,
  sources: Readonly<Record<string, () => number | undefined>>,
): void {
  new Gauge({
    name: 'herald_certificate_ends_seconds',
    help: 'For how long a certificate is still valid; below 0: it has ended. `of` is `redis` (that of its servers which ends first) or `egress_ca` (the authorities of EGRESS_CA_FILE).',
    labelNames: ['of'],
    registers: [registry],
    collect() {
      for (const [of, findEnd] of Object.entries(sources)) {
        const end = findEnd();
        if (end === undefined) this.remove({ of });
        else this.set({ of }, (end - Date.now()) / 1_000);
      }
    },
  });
}
