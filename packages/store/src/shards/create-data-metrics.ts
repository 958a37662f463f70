import { Gauge } from 'prom-client';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

export type DataMetrics = { readonly showLoss: (isLost: boolean) => void };

/** Whether a process still has the data that it works on. Shown as 0 from the start. */
export function createDataMetrics(registry: MetricsRegistry): DataMetrics {
  const lost = new Gauge({
    name: 'herald_data_lost',
    help: 'Whether the data that this process works on has vanished from Redis.',
    registers: [registry],
  });
  return {
    showLoss: (isLost) => {
      lost.set(isLost ? 1 : 0);
    },
  };
}
