import { DomainError, UnavailableError, ValidationError, type ErrorCode, type InputProblem } from '@herald/core';
import { isRedisUnavailable } from '@herald/infra';
import { HttpFault, type HttpFaultCode } from './http-fault.ts';

export type ProblemCode = ErrorCode | HttpFaultCode | 'internal';

const STATUS: Record<ProblemCode, number> = {
  invalid_json: 400,
  malformed_request: 400,
  unauthenticated: 401,
  insufficient_scope: 403,
  foreign_origin: 403,
  route_not_found: 404,
  receiver_not_found: 404,
  task_not_found: 404,
  approval_not_found: 404,
  callback_not_found: 404,
  delivery_not_found: 404,
  replay_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  receiver_limit_reached: 409,
  receiver_disabled: 409,
  invalid_transition: 409,
  idempotency_conflict: 409,
  request_in_progress: 409,
  task_closed: 409,
  stale_action_version: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
};

/** An error as RFC 9457 `application/problem+json`; `code` is stable, `detail` says what to change. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly errors?: readonly InputProblem[];
};

/** Seconds after which a caller may try again when something is away. */
const RETRY_AFTER_S = 2;

/** Headers that belong to a fault's answer. */
export function problemHeaders(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof HttpFault) return error.headers;
  return toProblem(error).status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {};
}

/** What the caller is told of an error. Of a bug nothing but that there was one. */
export function toProblem(error: unknown): Problem {
  if (error instanceof ValidationError) {
    return { ...problem('validation_failed', error.message), errors: error.problems };
  }
  if (error instanceof DomainError || error instanceof HttpFault) return problem(error.code, error.message);
  if (isRedisUnavailable(error)) return toProblem(new UnavailableError('the store is away for a moment; try again'));
  return problem('internal', 'something went wrong on our side; the request id finds it in our log');
}

function problem(code: ProblemCode, detail: string): Problem {
  const words = code.replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return { type: `urn:herald:problem:${code}`, title, status: STATUS[code], detail, code };
}
