import type { Logger } from '@herald/runtime/log';
import type { ErrorRequestHandler } from 'express';
import { HttpFault, HungUpError, problemHeaders, toProblem } from './problem.ts';
import { cutOffBody } from './parse-json.ts';
import { stateOf } from './request-state.ts';

/** Answers an error with a problem. Logs a bug as an error and an outage as a warning. */
export function createErrorHandler(logger: Logger): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    // The log of requests tells of it.
    if (thrown instanceof HungUpError) return;
    const error = fromBodyParser(thrown) ?? thrown;
    const problem = toProblem(error);
    const state = stateOf(req);
    const { requestId = '' } = state;
    state.problem = problem.code;
    if (problem.status === 500) logger.error('request.failed', { requestId, method: req.method }, error);
    if (problem.status === 503) logger.warn('request.unavailable', { requestId, method: req.method }, error);
    if (res.headersSent) {
      next(error);
      return;
    }
    res.status(problem.status).set(problemHeaders(error)).type('application/problem+json');
    res.send(JSON.stringify({ ...problem, requestId }));
  };
}

/** The errors of the body reader, by their documented `type`. */
function fromBodyParser(error: unknown): HttpFault | undefined {
  const { type, limit } = (error ?? {}) as { type?: unknown; limit?: unknown };
  switch (type) {
    case 'entity.too.large':
      return new HttpFault('payload_too_large', `the body is larger than ${String(limit)} bytes`);
    case 'request.aborted':
    case 'request.size.invalid':
      return cutOffBody();
    default:
      // A path parameter cannot be decoded, such as %E0%A4%A: nothing has that name.
      return error instanceof URIError ? new HttpFault('route_not_found', 'there is nothing at this path') : undefined;
  }
}
