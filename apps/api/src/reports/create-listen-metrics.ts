import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { Gauge } from '@prometheus-io/client';

export function createListenMetrics(registry: MetricsRegistry) {
  const open = new Gauge({
    name: 'herald_listeners',
    help: 'Listeners that are connected to this process.',
    registers: [registry],
  });
  const withoutLabels = (name: `herald_${string}_total`, help: string) => createCounter(registry, name, help, [], [{}]);
  return {
    showOpen: (count: number) => {
      open.set(count);
    },
    sent: withoutLabels('herald_listen_events_total', 'Events that listeners of this process were sent.'),
    publishFailed: withoutLabels(
      'herald_listen_publish_failures_total',
      'Events that this process accepted and could not tell listeners of. Their deliveries are not affected.',
    ),
  };
}
export type ListenMetrics = ReturnType<typeof createListenMetrics>;
