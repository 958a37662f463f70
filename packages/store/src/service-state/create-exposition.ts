import { answerWithin } from '@herald/runtime/async/answer-within';
import { rememberFor } from '@herald/runtime/async/remember-for';
import type { ServiceState } from './create-service-state-reader.ts';
import { addServiceGauges } from './add-service-gauges.ts';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** What a scrape gets, in Prometheus' text format. */
export type Exposition = { readonly contentType: string; readonly render: () => Promise<string> };

/** However often somebody scrapes, Redis is asked at most so often, in ms. */
const REMEMBERED_MS = 1_000;
/** A Redis that hangs must not keep a scrape waiting, in ms. */
const STATE_LIMIT_MS = 1_500;

export type ExpositionDeps = {
  readonly registry: MetricsRegistry;
  readonly readServiceState: () => Promise<ServiceState>;
};

export function createExposition({ registry, readServiceState }: ExpositionDeps): Exposition {
  const show = addServiceGauges(registry);
  // A Redis that is away makes the process say so itself, in its log and its readiness.
  const read = rememberFor(REMEMBERED_MS, () =>
    answerWithin<ServiceState | undefined, undefined>(
      STATE_LIMIT_MS,
      readServiceState().catch(() => undefined),
      () => undefined,
    ),
  );
  return {
    contentType: registry.contentType,
    render: async () => {
      show(await read());
      return await registry.metrics();
    },
  };
}
