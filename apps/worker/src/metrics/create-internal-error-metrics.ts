import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

const PLACES = ['delivery'] as const;
export type InternalErrorPlace = (typeof PLACES)[number];

/** What goes wrong inside a worker, and what another worker recovers. */
export type InternalErrorMetrics = {
  readonly maintenanceFailed: () => void;
  readonly internalError: (place: InternalErrorPlace) => void;
  readonly queueFailed: (queue: string) => void;
  readonly jobStalled: (queue: string) => void;
};

export function createInternalErrorMetrics(registry: MetricsRegistry): InternalErrorMetrics {
  const maintenanceFailures = createCounter(
    registry,
    'herald_maintenance_failures_total',
    'Maintenance routines that failed; the next round tries anew.',
    [],
    [{}],
  );
  const internalErrors = createCounter(
    registry,
    'herald_internal_errors_total',
    'Errors of Herald or of Redis while a delivery was in work; it is tried again, and no try is spent.',
    ['place'],
    PLACES.map((place) => ({ place })),
  );
  const queues = [{ queue: 'deliveries' }];
  const queueErrors = createCounter(
    registry,
    'herald_queue_errors_total',
    'Errors that BullMQ reported.',
    ['queue'],
    queues,
  );
  const stalled = createCounter(
    registry,
    'herald_jobs_stalled_total',
    "Deliveries that waited again because their worker's lease had ended.",
    ['queue'],
    queues,
  );
  return {
    maintenanceFailed: () => {
      maintenanceFailures({});
    },
    internalError: (place) => {
      internalErrors({ place });
    },
    queueFailed: (queue) => {
      queueErrors({ queue });
    },
    jobStalled: (queue) => {
      stalled({ queue });
    },
  };
}
