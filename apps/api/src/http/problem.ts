import { DomainError, UnavailableError, ValidationError, type ErrorCode } from '@herald/core';
import { isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { z } from 'zod';
import { HttpFault, type HttpFaultCode } from './http-fault.ts';

export type ProblemCode = ErrorCode | HttpFaultCode | 'internal';

/** The HTTP status of every code. */
export const STATUS: Readonly<Record<ProblemCode, number>> = {
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
  replay_limit_reached: 409,
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

const ProblemFields = {
  type: z
    .string()
    .meta({ description: 'A URI that names the kind of problem.', examples: ['urn:herald:problem:task_closed'] }),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string().meta({ description: 'For people: what to change.' }),
  code: z.enum(Object.keys(STATUS) as [ProblemCode, ...ProblemCode[]]).meta({
    id: 'ProblemCode',
    description: 'Stable: what programs go by.',
  }),
  errors: z
    .array(z.strictObject({ path: z.string(), message: z.string() }))
    .meta({ description: 'Of `validation_failed`: where in the input, keys joined by dots, and what to change.' })
    .exactOptional(),
};

/** An error as RFC 9457 problem details. */
export const Problem = z
  .strictObject(ProblemFields)
  .meta({ id: 'ItemProblem', description: 'Problem details (RFC 9457) of one item.' });
export type Problem = z.infer<typeof Problem>;

/** The body of an answer that is an error. */
export const AnsweredProblem = z
  .strictObject({
    ...ProblemFields,
    requestId: z.string().meta({ description: 'The `x-request-id` of the answer; finds the request in our log.' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457), as `application/problem+json`.' });

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
    return {
      ...describeProblem('validation_failed', error.message),
      errors: error.problems.map(({ path, message }) => ({ path, message })),
    };
  }
  if (error instanceof DomainError || error instanceof HttpFault) return describeProblem(error.code, error.message);
  if (isRedisUnavailable(error)) return toProblem(new UnavailableError('the store is away for a moment; try again'));
  return describeProblem('internal', 'something went wrong on our side; the request id finds it in our log');
}

/** The problem of a code. */
export function describeProblem(code: ProblemCode, detail: string): Problem {
  const words = code.replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return { type: `urn:herald:problem:${code}`, title, status: STATUS[code], detail, code };
}
