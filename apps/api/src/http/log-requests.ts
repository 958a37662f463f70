import type { Logger } from '@herald/infra';
import type { RequestHandler } from 'express';
import { pathForLog } from './path-for-log.ts';
import { requestIdOf } from './request-id.ts';

/** One line per request when its answer is out: of what was asked the path, as far as that is words and ids. */
export function createRequestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now();
    res.once('finish', () => {
      const level = res.statusCode >= 500 ? 'warn' : res.statusCode >= 400 ? 'info' : 'debug';
      logger[level]('request.answered', {
        requestId: requestIdOf(req),
        method: req.method,
        path: pathForLog(req.originalUrl),
        status: res.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
      });
    });
    next();
  };
}
