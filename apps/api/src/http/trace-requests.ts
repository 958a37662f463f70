import type { Tracing } from '@herald/runtime/tracing/create-tracing';
import type { Request, RequestHandler } from 'express';
import { requestIdOf } from './request-id.ts';
import { routeOf } from './route-of.ts';

const parents = new WeakMap<Request, string>();

/** What work that outlives the request names as its parent; undefined when nothing is traced. */
export function traceparentOf(req: Request): string | undefined {
  return parents.get(req);
}

/** One span per request, in the trace of its caller, named by the pattern of its route. */
export function createRequestTrace(tracing: Tracing): RequestHandler {
  return (req, res, next) => {
    const { method } = req;
    const span = tracing.startRequest(method, req.get('traceparent'));
    if (span.traceparent !== undefined) parents.set(req, span.traceparent);
    res.once('close', () => {
      const route = routeOf(req);
      span.end({
        failed: res.statusCode >= 500 || !res.writableFinished,
        name: route === undefined ? method : `${method} ${route}`,
        attributes: {
          ...(route !== undefined && { 'http.route': route }),
          'http.request.method': method,
          'http.response.status_code': res.statusCode,
          'herald.request_id': requestIdOf(req),
        },
      });
    });
    next();
  };
}
