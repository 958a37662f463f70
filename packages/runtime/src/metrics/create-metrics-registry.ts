import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { VERSION } from '../version.ts';

export type MetricsRegistry = Registry;

/** A registry with the metrics of every process: its build, memory, CPU time, event loop and garbage collection. */
export function createMetricsRegistry(process: 'api' | 'worker'): MetricsRegistry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'herald_build_info',
    help: 'Always 1; what runs here is in the labels.',
    labelNames: ['process', 'version'],
    registers: [registry],
  }).set({ process, version: VERSION }, 1);
  return registry;
}
