import { Gauge } from '@prometheus-io/client';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** Shows whether a process still has the data that it works on. */
export function createDataMetrics(registry: MetricsRegistry) {
  const lost = new Gauge({
    name: 'herald_data_lost',
    help: 'Whether the data that this process works on has vanished from Redis.',
    registers: [registry],
  });
  return {
    showLoss: (isLost: boolean) => {
      lost.set(isLost ? 1 : 0);
    },
  };
}
export type DataMetrics = ReturnType<typeof createDataMetrics>;
