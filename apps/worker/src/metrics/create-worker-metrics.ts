import {
  createAttemptMetrics,
  createDataMetrics,
  createDeliveryMetrics,
  createMetricsRegistry,
  createRedisMetrics,
  createUpkeepMetrics,
} from '@herald/infra';

const CONNECTIONS = ['herald-worker', 'herald-worker-queue'];

/** Everything that a worker counts. */
export function createWorkerMetrics() {
  const registry = createMetricsRegistry('worker');
  return {
    registry,
    deliveries: createDeliveryMetrics(registry),
    attempts: createAttemptMetrics(registry),
    upkeep: createUpkeepMetrics(registry),
    redis: createRedisMetrics(registry, CONNECTIONS),
    data: createDataMetrics(registry),
  };
}
export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;
