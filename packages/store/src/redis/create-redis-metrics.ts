import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** Counts errors and reconnections of a process's connections to Redis, by their names. */
export function createRedisMetrics(registry: MetricsRegistry, connections: readonly string[]) {
  const from = connections.map((connection) => ({ connection }));
  const count = (name: `herald_${string}_total`, help: string) =>
    createCounter(registry, name, help, ['connection'], from);
  return {
    failed: count('herald_redis_errors_total', 'Errors of connections to Redis.'),
    reconnected: count('herald_redis_reconnects_total', 'Times that a connection to Redis was made again.'),
  };
}
export type RedisMetrics = ReturnType<typeof createRedisMetrics>;
