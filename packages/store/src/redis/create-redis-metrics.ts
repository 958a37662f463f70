import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** How a process' connections to Redis fare, by their names. */
export type RedisMetrics = {
  readonly failed: (connection: string) => void;
  readonly reconnected: (connection: string) => void;
};

export function createRedisMetrics(registry: MetricsRegistry, connections: readonly string[]): RedisMetrics {
  const from = connections.map((connection) => ({ connection }));
  const errors = createCounter(
    registry,
    'herald_redis_errors_total',
    'Errors of connections to Redis.',
    ['connection'],
    from,
  );
  const reconnects = createCounter(
    registry,
    'herald_redis_reconnects_total',
    'Times that a connection to Redis was made again.',
    ['connection'],
    from,
  );
  return {
    failed: (connection) => {
      errors({ connection });
    },
    reconnected: (connection) => {
      reconnects({ connection });
    },
  };
}
