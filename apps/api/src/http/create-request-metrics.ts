import { Histogram } from 'prom-client';
import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';

/** A request that was answered. `route` is the pattern of its path, never the path itself. */
export type AnsweredRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
};

export type RequestMetrics = { readonly answered: (request: AnsweredRequest) => void };

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
/** Seconds. The longest is the test operation, which waits for a receiver. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];

export function createRequestMetrics(registry: MetricsRegistry): RequestMetrics {
  const requests = createCounter(
    registry,
    'herald_http_requests_total',
    'Requests answered, by method, pattern of the path and status.',
    ['method', 'route', 'status'],
  );
  const duration = new Histogram({
    name: 'herald_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  return {
    answered: ({ method: sent, route, status, durationMs }) => {
      const method = METHODS.has(sent) ? sent : 'other';
      requests({ method, route, status: String(status) });
      duration.observe({ method, route }, durationMs / 1_000);
    },
  };
}
