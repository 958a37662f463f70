import type { Logger } from '@herald/runtime/log/logger';
import type { RequestMetrics } from './create-request-metrics.ts';
import type { RequestHandler } from 'express';
import { pathForLog } from './path-for-log.ts';
import { requestIdOf } from './request-id.ts';
import { routeOf } from './route-of.ts';

export type RequestLogDeps = { readonly logger: Logger; readonly metrics: RequestMetrics };

/** What came to no route: a wrong path, or a request that was refused before. */
const NO_ROUTE = 'none';

/**
 * Writes and counts each request when its answer is out. The line has the path, as far as that is words and ids; the metrics
 * have its pattern alone.
 */
export function createRequestLog({ logger, metrics }: RequestLogDeps): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('finish', () => {
      const durationMs = performance.now() - startedAt;
      const { method } = req;
      const status = res.statusCode;
      metrics.answered({ method, route: routeOf(req) ?? NO_ROUTE, status, durationMs });
      const level = status >= 500 ? 'warn' : status >= 400 ? 'info' : 'debug';
      logger[level]('request.answered', {
        requestId: requestIdOf(req),
        method,
        path: pathForLog(req.originalUrl),
        status,
        durationMs: Math.round(durationMs),
      });
    });
    next();
  };
}
