import type { Scope } from '@herald/store/api-keys/api-key-store';
import type { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { ProblemCode } from '../http/problem.ts';
import { headerRef, RATE_LIMIT_HEADERS, type HeaderName } from './headers.ts';
import { problemResponses } from './problem-responses.ts';

const IDEMPOTENCY_KEY_REF = { $ref: '#/components/parameters/Idempotency-Key' };

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** An answer that is no problem. */
export type Answer = {
  readonly status: number;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly headers?: readonly HeaderName[];
};

/** One operation, as far as it differs from all others. */
export type Operation = {
  readonly id: string;
  readonly method: Method;
  /** As in the document, such as `/tasks/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Absent: no key is needed. */
  readonly scope?: Scope;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: { readonly schema: z.ZodType; readonly isRequired: boolean };
  readonly answers: readonly [Answer, ...Answer[]];
  /** Codes of its own; those that follow from its form are added. */
  readonly problems?: readonly ProblemCode[];
};

/** The operation as OpenAPI describes it. */
export function toOpenApiOperation(operation: Operation): ZodOpenApiOperationObject {
  const { id, tag, summary, description, scope, params, query, body, answers } = operation;
  const scopeText = scope && `Needs an API key with the scope \`${scope}\`.`;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scopeText].filter((text) => text !== undefined).join('\n\n'),
    security: scope === undefined ? [] : [{ apiKey: [scope] }],
    requestParams: { ...(params && { path: params }), ...(query && { query }) },
    ...(isIdempotent(operation) && { parameters: [IDEMPOTENCY_KEY_REF] }),
    ...(body && {
      requestBody: { required: body.isRequired, content: { 'application/json': { schema: body.schema } } },
    }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => [answer.status, toResponse(answer, operation)])),
      ...problemResponses(problemsOf(operation)),
    },
  };
}

/** Every POST takes an `Idempotency-Key`. */
function isIdempotent({ method, scope }: Operation): boolean {
  return method === 'post' && scope !== undefined;
}

function toResponse({ description, schema, headers = [] }: Answer, operation: Operation): ZodOpenApiResponseObject {
  const { scope } = operation;
  const names: readonly HeaderName[] = [
    'x-request-id',
    ...headers,
    ...(isIdempotent(operation) ? (['idempotency-replayed'] as const) : []),
    // Executor keys have no limit.
    ...(scope === undefined || scope === 'execute' ? [] : RATE_LIMIT_HEADERS),
  ];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    content: { 'application/json': { schema } },
  };
}

/** Every code that the operation may answer with. */
function problemsOf(operation: Operation): ProblemCode[] {
  const { scope, params, body, problems = [] } = operation;
  if (scope === undefined) return [...problems];
  return [
    'malformed_request',
    ...(body ? (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    // Of the query at least: none of it may be unknown.
    ...(['validation_failed', 'unauthenticated', 'insufficient_scope'] as const),
    // A path parameter that can't be decoded.
    ...(params ? (['route_not_found'] as const) : []),
    ...problems,
    ...(isIdempotent(operation) ? (['idempotency_conflict', 'request_in_progress'] as const) : []),
    ...(['rate_limited', 'internal', 'unavailable'] as const),
  ];
}
