import { createCounter, createMetricsRegistry, type MetricsRegistry } from '@herald/runtime/metrics';
import { createDeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import { createRedisMetrics } from '@herald/store/redis/open-connections';
import { createDataMetrics } from '@herald/store/operators/exposition';
import { createAttemptMetrics } from './report.ts';

const CONNECTIONS = ['herald-worker', 'herald-worker-queue'];

/** Everything that a worker counts. */
export function createWorkerMetrics() {
  const registry = createMetricsRegistry('worker');
  return {
    registry,
    deliveries: createDeliveryMetrics(registry),
    attempts: createAttemptMetrics(registry),
    internalErrors: createInternalErrorMetrics(registry),
    redis: createRedisMetrics(registry, CONNECTIONS),
    data: createDataMetrics(registry),
  };
}

const QUEUE = { queue: 'deliveries' };

/** Counts the errors inside a worker, and the jobs that it recovers from others. */
export function createInternalErrorMetrics(registry: MetricsRegistry) {
  const countOne = (name: `herald_${string}_total`, help: string, labels: Readonly<Record<string, string>>) => {
    const increase = createCounter(registry, name, help, Object.keys(labels), [labels]);
    return (): void => {
      increase(labels);
    };
  };
  return {
    maintenanceFailed: countOne(
      'herald_maintenance_failures_total',
      'Maintenance routines that failed; the next round tries anew.',
      {},
    ),
    internalError: countOne(
      'herald_internal_errors_total',
      'Errors of Herald or of Redis while a delivery was in work; it is tried again, and no try is spent.',
      { place: 'delivery' },
    ),
    queueFailed: countOne('herald_queue_errors_total', 'Errors that BullMQ reported.', QUEUE),
    jobStalled: countOne(
      'herald_jobs_stalled_total',
      "Deliveries that waited again because their worker's lease had ended.",
      QUEUE,
    ),
  };
}
export type InternalErrorMetrics = ReturnType<typeof createInternalErrorMetrics>;
