import { Counter } from 'prom-client';
import type { MetricsRegistry } from './create-metrics-registry.ts';

type Count<Label extends string> = (labels: Readonly<Record<Label, string>>, by?: number) => void;

/**
 * A counter as a function. Those of `from` are shown as 0 from the start: an increase from nothing to one is none to
 * Prometheus, and an alert on it would stay silent.
 */
export function createCounter<Label extends string>(
  registry: MetricsRegistry,
  name: `herald_${string}_total`,
  help: string,
  labelNames: readonly Label[],
  from: readonly Readonly<Record<Label, string>>[] = [],
): Count<Label> {
  const counter = new Counter({ name, help, labelNames, registers: [registry] });
  const count: Count<Label> = (labels, by = 1) => {
    counter.inc(labels, by);
  };
  for (const labels of from) count(labels, 0);
  return count;
}
