import { Gauge } from '@prometheus-io/client';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { Readiness } from './create-readiness.ts';

/** Shows what `/readyz` says, so that alerts tell it by the same names. Every scrape calls `readReadiness`. */
export function addFindingGauge(
  registry: MetricsRegistry,
  readReadiness: () => Promise<Pick<Readiness, 'problems' | 'warnings'>>,
): void {
  new Gauge({
    name: 'herald_finding',
    help: '1 for each problem (`error`: the process is not ready) and warning of /readyz, by its code.',
    labelNames: ['code', 'level'],
    registers: [registry],
    async collect() {
      const { problems, warnings } = await readReadiness();
      this.reset();
      for (const { code, level } of [...problems, ...warnings]) this.set({ code, level }, 1);
    },
  });
}
