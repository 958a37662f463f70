import type { Logger } from '@herald/infra';
import type { ErrorRequestHandler } from 'express';
import { HttpFault } from './http-fault.ts';
import { problemHeaders, toProblem } from './problem.ts';
import { cutOffBody } from './read-body.ts';
import { requestIdOf } from './request-id.ts';

/** Turns whatever was thrown into a problem; a bug, and only a bug, is logged with its stack. */
export function createErrorHandler(logger: Logger): ErrorRequestHandler {
  return (thrown: unknown, req, res, next) => {
    const error = fromBodyParser(thrown) ?? thrown;
    const problem = toProblem(error);
    const requestId = requestIdOf(req);
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

/** The body parser's own errors, by its documented `type`. */
function fromBodyParser(error: unknown): HttpFault | undefined {
  const { type, limit, message } = (error ?? {}) as { type?: unknown; limit?: unknown; message?: unknown };
  switch (type) {
    case 'entity.parse.failed':
      // Where, and not what: the parser's own message quotes the body.
      return new HttpFault(
        'invalid_json',
        `the body is not valid JSON${/ at position \d+/.exec(String(message))?.[0] ?? ''}`,
      );
    case 'entity.too.large':
      return new HttpFault('payload_too_large', `the body is larger than ${String(limit)} bytes`);
    case 'encoding.unsupported':
    case 'charset.unsupported':
      return new HttpFault('unsupported_media_type', 'send the body in UTF-8, without content-encoding');
    case 'request.aborted':
    case 'request.size.invalid':
      return cutOffBody();
    default:
      // An undecodable path parameter, such as %E0%A4%A: there is nothing of that name.
      return error instanceof URIError ? new HttpFault('route_not_found', 'there is nothing at this path') : undefined;
  }
}
