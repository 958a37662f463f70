import type { Tracing } from '@herald/runtime/tracing/create-tracing';
import type { RequestHandler } from 'express';
import { stateOf } from './request-state.ts';

/** Makes one span per request, in the trace of its caller. The pattern of the route is its name. */
export function createRequestTrace(tracing: Tracing): RequestHandler {
  return (req, res, next) => {
    const { method } = req;
    const span = tracing.startRequest(method, req.get('traceparent'));
    const state = stateOf(req);
    if (span.traceparent !== undefined) state.traceparent = span.traceparent;
    res.once('close', () => {
      const { route } = state;
      span.end({
        failed: res.statusCode >= 500 || !res.writableFinished,
        name: route === undefined ? method : `${method} ${route}`,
        attributes: {
          ...(route !== undefined && { 'http.route': route }),
          'http.request.method': method,
          'http.response.status_code': res.statusCode,
          'herald.request_id': state.requestId ?? '',
        },
      });
    });
    next();
  };
}
