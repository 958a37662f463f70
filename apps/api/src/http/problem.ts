import { DomainError, UnavailableError, ValidationError, type ErrorCode } from '@herald/core';
import { isRedisUnavailable } from '@herald/store/server/is-redis-unavailable';
import { z } from 'zod';

type Entry = readonly [status: number, meaning: string];

/** Every code: its HTTP status, and when the API answers with it. Each `ErrorCode` must have an entry. */
export const PROBLEMS = {
  invalid_json: [400, 'The body is not JSON, or ended early.'],
  malformed_request: [400, 'It is no request in HTTP/1.1, or names its host or its key twice.'],
  unauthenticated: [401, 'No API key was sent, or one that is unknown, expired or revoked.'],
  insufficient_scope: [403, "The API key lacks the operation's scope."],
  foreign_origin: [403, 'A page of another site asked for a change on the operator pages.'],
  route_not_found: [404, 'There is nothing at this path.'],
  receiver_not_found: [404, 'The workspace has no such receiver.'],
  task_not_found: [404, 'The workspace has no such Task.'],
  approval_not_found: [404, 'The current action of the Task has no such approval request.'],
  callback_not_found: [404, 'The Task has no callback.'],
  delivery_not_found: [404, 'The workspace has no such delivery.'],
  replay_not_found: [404, 'The workspace has no such replay.'],
  method_not_allowed: [405, 'The path has no such method.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  receiver_limit_reached: [409, 'The workspace already has 10 receivers.'],
  replay_limit_reached: [409, 'The workspace already has 10 replays under way.'],
  receiver_disabled: [409, 'The receiver is disabled; enable it first.'],
  invalid_transition: [409, "The Task's state does not allow it."],
  idempotency_conflict: [409, 'This `Idempotency-Key` came with another body; use a new one.'],
  request_in_progress: [409, 'The first request with this `Idempotency-Key` is not answered yet; try again.'],
  task_closed: [409, 'The Task is done or canceled and takes nothing more.'],
  task_open: [409, 'The Task is not done or canceled yet.'],
  payload_erased: [409, 'The payload of the delivery was erased; nothing is left to send.'],
  stale_action_version: [409, 'Another action version is the current one.'],
  payload_too_large: [413, 'The body is larger than 256 KiB, or a batch than 4 MiB.'],
  unsupported_media_type: [415, 'The body is not `application/json` in UTF-8.'],
  validation_failed: [422, 'The input breaks rules: `errors` names each. Nothing was changed.'],
  rate_limited: [429, 'Too many requests with this key, or too many failed authentications from this address.'],
  headers_too_large: [431, 'The request line and headers are larger than 16 KiB together.'],
  internal: [500, 'An internal error. The request id finds it in our log.'],
  unavailable: [503, 'Something that the answer depends on is away; try again after `Retry-After`.'],
} as const satisfies Readonly<Record<ErrorCode, Entry>> & Readonly<Record<string, Entry>>;
export type ProblemCode = keyof typeof PROBLEMS;

/** A fault of a request that HTTP itself knows. Foreseen faults of the domain are `DomainError`s. */
export class HttpFault extends Error {
  override readonly name = 'HttpFault';
  readonly code: Exclude<ProblemCode, ErrorCode | 'internal'>;
  /** Response headers that belong to the answer. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: HttpFault['code'], detail: string, headers: HttpFault['headers'] = {}) {
    super(detail);
    this.code = code;
    this.headers = headers;
  }
}

const ProblemFields = {
  type: z
    .string()
    .meta({ description: 'A URI that names the kind of problem.', examples: ['urn:herald:problem:task_closed'] }),
  title: z.string(),
  status: z.int().min(400).max(599),
  detail: z.string().meta({ description: 'For people: what to change.' }),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]).meta({
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

/** How long a caller waits before it repeats a request that was answered with 503, in seconds. */
const RETRY_AFTER_S = 2;

/** Response headers that belong to the answer to an error. */
export function problemHeaders(error: unknown): Readonly<Record<string, string>> {
  if (error instanceof HttpFault) return error.headers;
  return toProblem(error).status === 503 ? { 'retry-after': String(RETRY_AFTER_S) } : {};
}

/** The problem that an error is answered with. It says nothing of a bug but that there was one. */
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

export function describeProblem(code: ProblemCode, detail: string): Problem {
  const words = code.replaceAll('_', ' ');
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return { type: `urn:herald:problem:${code}`, title, status: PROBLEMS[code][0], detail, code };
}
