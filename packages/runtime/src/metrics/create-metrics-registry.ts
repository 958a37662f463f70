import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import { COMMIT, VERSION } from '../version.ts';

export type MetricsRegistry = Registry;

/**
 * How often the event loop is looked at, in ms. No measured lag is shorter, and a process at rest wakes for little else:
 * at the library's 10 ms, each look costs half of its processor time.
 */
const EVENT_LOOP_EVERY_MS = 50;

/** A registry with the metrics of every process: its build, memory, CPU time, event loop and garbage collection. */
export function createMetricsRegistry(process: 'api' | 'worker'): MetricsRegistry {
  const registry = createBuildRegistry(process);
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: EVENT_LOOP_EVERY_MS,
    // Ten times as long as by default: it, too, wakes the process.
    eventLoopUtilizationTimeout: 1_000,
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
