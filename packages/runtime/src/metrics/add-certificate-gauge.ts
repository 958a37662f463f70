import { Gauge } from '@prometheus-io/client';
import type { MetricsRegistry } from './create-metrics-registry.ts';

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
