import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

const PLACE = { place: 'delivery' };
const QUEUE = { queue: 'deliveries' };

/** Counts the errors inside a worker, and the jobs that it recovers from others. */
export function createInternalErrorMetrics(registry: MetricsRegistry) {
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
    [PLACE],
  );
  const queueErrors = createCounter(
    registry,
    'herald_queue_errors_total',
    'Errors that BullMQ reported.',
    ['queue'],
    [QUEUE],
  );
  const stalled = createCounter(
    registry,
    'herald_jobs_stalled_total',
    "Deliveries that waited again because their worker's lease had ended.",
    ['queue'],
    [QUEUE],
  );
  return {
    maintenanceFailed: () => {
      maintenanceFailures({});
    },
    internalError: () => {
      internalErrors(PLACE);
    },
    queueFailed: () => {
      queueErrors(QUEUE);
    },
    jobStalled: () => {
      stalled(QUEUE);
    },
  };
}
export type InternalErrorMetrics = ReturnType<typeof createInternalErrorMetrics>;
