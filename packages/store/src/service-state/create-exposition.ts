import { answerWithin } from '@herald/runtime/async/answer-within';
import { rememberFor } from '@herald/runtime/async/remember-for';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { addServiceGauges } from './add-service-gauges.ts';
import type { ServiceState } from './create-service-state-reader.ts';

/** However many scrapes come, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;
/** A scrape waits at most this long for Redis, in ms. */
const STATE_LIMIT_MS = 1_500;

/** Renders the answer to a scrape, in Prometheus' text format. */
export function createExposition(registry: MetricsRegistry, readServiceState: () => Promise<ServiceState>) {
  const show = addServiceGauges(registry);
  // The log and the readiness of the process tell that Redis is away.
  const read = rememberFor(REMEMBERED_MS, () => {
    const state: Promise<ServiceState | undefined> = readServiceState().catch(() => undefined);
    return answerWithin(STATE_LIMIT_MS, state, () => undefined);
  });
  return {
    contentType: registry.contentType as string,
    render: async (): Promise<string> => {
      show(await read());
      return await registry.metrics();
    },
  };
}
export type Exposition = ReturnType<typeof createExposition>;
