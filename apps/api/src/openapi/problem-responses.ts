import { PROBLEMS, type ProblemCode } from '@herald/core';
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { AnsweredProblem, describeProblem } from '../http/problem.ts';
import { headerRef, HEADERS, type HeaderName } from './headers.ts';

const HEADERS_OF: Partial<Record<ProblemCode, HeaderName>> = {
  unauthenticated: 'www-authenticate',
  unavailable: 'retry-after',
  history_unavailable: 'retry-after',
  rate_limited: 'retry-after',
  workspace_full: 'retry-after',
  request_in_progress: 'retry-after',
};

/** The responses for these codes, one per status. */
export function problemResponses(codes: readonly ProblemCode[]): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, toResponse(some)]));
}

/** For statuses that an operation doesn't name: those of another method of its path, and those of HTTP itself. */
export const OTHER_PROBLEM: oas31.ReferenceObject = { $ref: '#/components/responses/problem' };
const ANYWHERE: readonly ProblemCode[] = [
  'method_not_allowed',
  'request_timeout',
  'precondition_failed',
  'headers_too_large',
];

/** Responses that operations refer to: problems that are mostly alone under their status. */
export function sharedProblemResponses(): Record<string, ZodOpenApiResponseObject> {
  return { ...Object.fromEntries(SHARED.map((code) => [code, describe([code])])), problem: describe(ANYWHERE) };
}

const SHARED: readonly ProblemCode[] = [
  'malformed_request',
  'unauthenticated',
  'insufficient_scope',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
  'rate_limited',
  'internal',
  'unavailable',
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
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].meaning}`).join('\n\n'),
    headers: { 'x-request-id': headerRef('x-request-id'), ...Object.fromEntries(ofCodes) },
    'x-problem-codes': [...codes],
    content: {
      'application/problem+json': {
        schema: AnsweredProblem,
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ProblemCode) {
  const errors = [{ path: 'url', pointer: '/url', code: 'invalid', message: 'url must start with https://' }];
  return {
    ...describeProblem(code, PROBLEMS[code].meaning),
    requestId: 'req_8fK2mQ0ZxYbA',
    ...(code === 'validation_failed' && { detail: 'url must start with https://', errors }),
  };
}
