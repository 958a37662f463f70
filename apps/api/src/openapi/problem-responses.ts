import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { describeProblem, STATUS, type ProblemCode } from '../http/problem.ts';
import { headerRef, HEADERS, type HeaderName } from './headers.ts';

/** When each code is answered; it won't compile until a new one has its sentence. */
const MEANING: Readonly<Record<ProblemCode, string>> = {
  invalid_json: 'The body is not JSON, or ended early.',
  malformed_request: 'It is no request in HTTP/1.1, or names its host or its key twice.',
  unauthenticated: 'No API key was sent, or one that is unknown, expired or revoked.',
  insufficient_scope: "The API key lacks the operation's scope.",
  foreign_origin: 'A page of another site asked for a change on the operator pages.',
  route_not_found: 'There is nothing at this path.',
  receiver_not_found: 'The workspace has no such receiver.',
  task_not_found: 'The workspace has no such Task.',
  approval_not_found: 'The current action of the Task has no such approval request.',
  callback_not_found: 'The Task has no callback.',
  delivery_not_found: 'The workspace has no such delivery.',
  replay_not_found: 'The workspace has no such replay.',
  method_not_allowed: 'The path has no such method.',
  receiver_limit_reached: 'The workspace already has 10 receivers.',
  replay_limit_reached: 'The workspace already has 10 replays under way.',
  receiver_disabled: 'The receiver is disabled; enable it first.',
  invalid_transition: "The Task's state does not allow it.",
  task_closed: 'The Task is done or canceled and takes nothing more.',
  stale_action_version: 'Another action version is the current one.',
  idempotency_conflict: 'This `Idempotency-Key` came with another body; use a new one.',
  request_in_progress: 'The first request with this `Idempotency-Key` is not answered yet; try again.',
  payload_too_large: 'The body is larger than 256 KiB, or a batch than 4 MiB.',
  unsupported_media_type: 'The body is not `application/json` in UTF-8.',
  validation_failed: 'The input breaks rules: `errors` names each. Nothing was changed.',
  rate_limited: 'Too many requests with this key, or too many failed authentications from this address.',
  request_timeout: 'The request took too long to arrive.',
  headers_too_large: 'The request line and headers are larger than 16 KiB together.',
  internal: 'An internal error. The request id finds it in our log.',
  unavailable: 'Something that the answer depends on is away; try again after `Retry-After`.',
};

const HEADERS_OF: Partial<Record<ProblemCode, HeaderName>> = {
  unauthenticated: 'www-authenticate',
  unavailable: 'retry-after',
  rate_limited: 'retry-after',
  request_in_progress: 'retry-after',
};

const PROBLEM_REF = { $ref: '#/components/schemas/Problem' };

/** The responses for these codes, one per status. */
export function problemResponses(codes: readonly ProblemCode[]): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(codes, (code) => STATUS[code]);
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, toResponse(some)]));
}

/** Problems that are alone under their status in most operations, to refer to. */
export function sharedProblemResponses(): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries(SHARED.map((code) => [code, describe([code])]));
}

const SHARED: readonly ProblemCode[] = [
  ...(['malformed_request', 'unauthenticated', 'insufficient_scope', 'payload_too_large'] as const),
  ...(['unsupported_media_type', 'validation_failed', 'rate_limited', 'internal', 'unavailable'] as const),
];

function toResponse(codes: readonly ProblemCode[]): ZodOpenApiResponseObject | oas31.ReferenceObject {
  const [code, ...others] = codes;
  const isShared = code !== undefined && others.length === 0 && SHARED.includes(code);
  return isShared ? { $ref: `#/components/responses/${code}` } : describe(codes);
}

function describe(codes: readonly ProblemCode[]): ZodOpenApiResponseObject {
  const names = new Set(codes.flatMap((code) => HEADERS_OF[code] ?? []));
  const ofCodes = [...names].map((name) => {
    const always = codes.every((code) => HEADERS_OF[code] === name);
    return [name, always ? headerRef(name) : { ...HEADERS[name], required: false }] as const;
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANING[code]}`).join('\n\n'),
    headers: { 'x-request-id': headerRef('x-request-id'), ...Object.fromEntries(ofCodes) },
    content: {
      'application/problem+json': {
        schema: { allOf: [PROBLEM_REF, { properties: { code: { enum: [...codes] } } }] },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ProblemCode) {
  const errors = [{ path: 'url', message: 'must start with https://' }];
  return {
    ...describeProblem(code, MEANING[code]),
    requestId: 'req_8fK2mQ0ZxYbA',
    ...(code === 'validation_failed' && { detail: 'url: must start with https://', errors }),
  };
}
