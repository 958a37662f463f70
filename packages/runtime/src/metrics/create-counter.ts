import { Counter } from '@prometheus-io/client';
import type { MetricsRegistry } from './create-metrics-registry.ts';

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
