import { createAcceptanceMetrics } from './create-acceptance-metrics.ts';
import { createDataMetrics } from '@herald/store/shards/create-data-metrics';
import { createDeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import { createMetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { createRedisMetrics } from '@herald/store/redis/create-redis-metrics';
import { createRequestMetrics } from '../http/create-request-metrics.ts';

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
