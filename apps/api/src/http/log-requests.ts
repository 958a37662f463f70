import type { Logger } from '@herald/infra';
import type { RequestHandler } from 'express';
import { requestIdOf } from './request-id.ts';

/** One line per request when its answer is out. The path stays as it was routed: ids, never a query or a body. */
export function createRequestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('finish', () => {
      const level = res.statusCode >= 500 ? 'warn' : res.statusCode >= 400 ? 'info' : 'debug';
      logger[level]('request.answered', {
        requestId: requestIdOf(req),
        method: req.method,
        path: req.originalUrl.split('?')[0]?.slice(0, 200),
        status: res.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
      });
    });
    next();
  };
}
