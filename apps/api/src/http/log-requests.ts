import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { Histogram } from 'prom-client';
import { pathForLog } from './path-for-log.ts';
import { stateOf } from './request-state.ts';
import { routeOf } from './route-of.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
/** Seconds. The test operation takes longest, because it waits for a receiver. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20];
/** The `route` of a request with a wrong path, and of one that was refused before routing. */
const NO_ROUTE = 'none';

export function createRequestMetrics(registry: MetricsRegistry) {
  return {
    requests: createCounter(
      registry,
      'herald_http_requests_total',
      'Requests answered, by method, pattern of the path and status.',
      ['method', 'route', 'status'],
    ),
    seconds: new Histogram({
      name: 'herald_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer.',
      labelNames: ['method', 'route'] as const,
      buckets: BUCKETS,
      registers: [registry],
    }),
  };
}

export type RequestLogDeps = {
  readonly logger: Logger;
  readonly metrics: { readonly requests: ReturnType<typeof createRequestMetrics> };
};

/** Logs and counts each request when its answer is sent. The log shows the path; the metrics only its pattern. */
export function createRequestLog({ logger, metrics: { requests: metrics } }: RequestLogDeps): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('finish', () => {
      const durationMs = performance.now() - startedAt;
      const status = res.statusCode;
      const method = METHODS.has(req.method) ? req.method : 'other';
      const route = routeOf(req) ?? NO_ROUTE;
      metrics.requests({ method, route, status: String(status) });
      // How long a stream stays open says nothing of how quickly requests are answered.
      const isStream = String(res.getHeader('content-type')).startsWith('text/event-stream');
      if (!isStream) metrics.seconds.observe({ method, route }, durationMs / 1_000);
      const level = status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
      logger[level]('request.answered', {
        requestId: stateOf(req).requestId,
        method: req.method,
        path: pathForLog(req.originalUrl),
        status,
        durationMs: Math.round(durationMs),
      });
    });
    next();
  };
}
