import {
  createAcceptanceMetrics,
  createDataMetrics,
  createDeliveryMetrics,
  createMetricsRegistry,
  createRedisMetrics,
  createRequestMetrics,
} from '@herald/infra';

const CONNECTIONS = ['herald-api', 'herald-api-queue', 'herald-api-subscriber', 'herald-api-operators'];

/** Everything that an API process counts. */
export function createApiMetrics() {
  const registry = createMetricsRegistry('api');
  return {
    registry,
    requests: createRequestMetrics(registry),
    acceptance: createAcceptanceMetrics(registry),
    deliveries: createDeliveryMetrics(registry),
    redis: createRedisMetrics(registry, CONNECTIONS),
    data: createDataMetrics(registry),
  };
}
export type ApiMetrics = ReturnType<typeof createApiMetrics>;
