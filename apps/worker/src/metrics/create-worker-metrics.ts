import { createAttemptMetrics } from './create-attempt-metrics.ts';
import { createDataMetrics } from '@herald/store/shards/create-data-metrics';
import { createDeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import { createMetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { createRedisMetrics } from '@herald/store/redis/create-redis-metrics';
import { createInternalErrorMetrics } from './create-internal-error-metrics.ts';

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
