import {
  ApiKeyIdText,
  ApprovalIdText,
  DeliveryIdText,
  PortalLinkIdText,
  type ProblemCode,
  PROBLEMS,
  ReceiverIdText,
  ReplayIdText,
  TaskIdText,
  WorkspaceIdText,
} from '@herald/core';
import { z } from 'zod';
import type {
  oas31,
  ZodOpenApiOperationObject,
  ZodOpenApiResponseObject,
  ZodOpenApiResponsesObject,
} from 'zod-openapi';
import { isForPortalLinks, mayRunAgain, type Operation, type RouteTable } from '../http/operation.ts';
import { AnsweredProblem, describeProblem } from '../http/problem.ts';

type Described = Omit<Operation<never>, 'handle'>;
type Table = Omit<RouteTable<never>, 'operations'>;

const IDEMPOTENCY_KEY_REF = { $ref: '#/components/parameters/Idempotency-Key' };

const IF_MATCH_REF = { $ref: '#/components/parameters/If-Match' };

const ID_TEXTS = {
  receiver: ReceiverIdText,
  task: TaskIdText,
  delivery: DeliveryIdText,
  replay: ReplayIdText,
  portal_link: PortalLinkIdText,
  key: ApiKeyIdText,
  approval: ApprovalIdText,
  workspace: WorkspaceIdText,
} as const;

/** An operation of a table, as OpenAPI describes it. */
export function describeOperation(operation: Described, table: Table): ZodOpenApiOperationObject {
  const { id, summary, description, deprecated, answer, unavailable } = operation;
  const { tag } = table;
  const query = operation.query instanceof z.ZodObject ? operation.query : undefined;
  const body = operation.batch ?? operation.body;
  const params = Object.fromEntries(idsOf(operation, table).map(([name, thing]) => [name, ID_TEXTS[thing]]));
  const response = describeAnswer(operation, table);
  const parameters = [
    ...(isIdempotent(operation, table) ? [IDEMPOTENCY_KEY_REF] : []),
    ...(operation.obeysIfMatch ? [IF_MATCH_REF] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, credentialsText(operation, table)].filter((text) => text !== undefined).join('\n\n'),
    ...(deprecated && { deprecated }),
    security: securityOf(operation, table),
    requestParams: { path: z.object(params), ...(query && { query }) },
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !body.safeParse({}).success, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      [answer.status]: response,
      ...(unavailable !== undefined && { 503: { ...response, description: unavailable } }),
      ...problemResponses(problemsOf(operation, table)),
      default: OTHER_PROBLEM,
    },
  };
}

/** What the operation needs, in words. */
function credentialsText(operation: Described, table: Table): string | undefined {
  const { access } = table;
  if (access === 'public') return undefined;
  if (access === 'operator') return 'For operators, who sign in as on the board.';
  if (access === 'operator_link') return 'Needs a portal link that an operator made, with `OPERATOR_WRITE=true`.';
  const key = access === 'any' ? 'an API key of a workspace' : `an API key with the scope \`${access}\``;
  if (!isForPortalLinks(operation, table)) return `Needs ${key}.`;
  return `Needs ${key}, or a portal link${operation.method === 'get' ? '' : ' that is not read-only'}.`;
}

function securityOf(operation: Described, table: Table): Record<string, string[]>[] {
  const { access } = table;
  if (access === 'public') return [];
  if (access === 'operator') return [{ operator: [] }];
  if (access === 'operator_link') return [{ operatorLink: [] }];
  const key = { apiKey: access === 'any' ? [] : [access] };
  return isForPortalLinks(operation, table) ? [key, { portalLink: [] }] : [key];
}

/** The ids in the path of an operation. An id of another form is answered with 404, like one that leads nowhere. */
function idsOf({ path }: Described, { ids }: Table) {
  return Object.entries(ids).filter(([name]) => path.includes(`{${name}}`));
}

/** Every POST and PATCH with a key takes an `Idempotency-Key`. */
function isIdempotent(operation: Described, { access }: Table): boolean {
  return ['post', 'patch'].includes(operation.method) && access !== 'public' && access !== 'operator';
}

function describeAnswer(operation: Described, table: Table): ZodOpenApiResponseObject {
  const { description, schema, type = 'application/json', headers = [], isPageToo } = operation.answer;
  const { access } = table;
  const names: readonly HeaderName[] = [
    'x-request-id',
    ...headers,
    ...(isIdempotent(operation, table) ? (['idempotency-replayed'] as const) : []),
    // Executor keys and operators have no limit.
    ...(['public', 'execute', 'operator'].includes(access) ? [] : RATE_LIMIT_HEADERS),
  ];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    content: { [type]: { schema }, ...(isPageToo && { 'text/html': { schema: { type: 'string' } } }) },
  };
}

/** Every code that the operation may answer with. */
function problemsOf(operation: Described, table: Table): ProblemCode[] {
  const { body, problems = [] } = operation;
  if (table.access === 'public') return ['malformed_request', ...problems];
  const notFound = idsOf(operation, table).map(([, thing]) => `${thing}_not_found` as const);
  const codes: ProblemCode[] = ['malformed_request'];
  if (body) codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type');
  // Every operation refuses unknown query parameters.
  codes.push('validation_failed', 'unauthenticated');
  if (table.access !== 'operator') codes.push('insufficient_scope');
  else if (operation.method !== 'get') codes.push('foreign_origin');
  // If it obeys no `If-Match`, it refuses it.
  if (operation.method !== 'get') codes.push('precondition_failed');
  // A path parameter that cannot be decoded leads to no route.
  if (notFound.length > 0) codes.push('route_not_found', ...notFound);
  codes.push(...problems);
  if (isIdempotent(operation, table)) {
    codes.push('idempotency_conflict', 'request_in_progress');
    if (!mayRunAgain(operation, table.access)) codes.push('workspace_full');
  }
  codes.push('rate_limited', 'internal', 'unavailable');
  // Some name what an id of theirs stands for, too.
  return [...new Set(codes)];
}

/** Response headers, by the name they are sent under. */
export const HEADERS = {
  'x-request-id': {
    description:
      'Id of the request: its own `x-request-id` if that has 1 to 64 letters, digits, `.`, `_` or `-`, else a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
    example: 'req_8fK2mQ0ZxYbA',
  },
  location: { description: 'Path of the new object.', required: true, schema: { type: 'string', pattern: '^/' } },
  'cache-control': {
    description: '`no-store`: the answer may hold a secret.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  etag: {
    description: 'Changes with whatever can be set of the receiver. Send it in `If-Match` with a change.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]+"$' },
    example: '"5f0c6f9a31d84f6c9f2e0c1d7a1b2c3d5e6f7a8b"',
  },
  'www-authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|Basic)\\b' },
  },
  'retry-after': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '2',
  },
  'idempotency-replayed': {
    description: '`true`: the answer of an earlier request with the same `Idempotency-Key`, without its secret.',
    schema: { type: 'string', const: 'true' },
  },
  ratelimit: {
    description: '`r`: requests left. `t`: seconds until the limit is full again. Absent without a limit.',
    schema: { type: 'string' },
    example: '"api-key"; r=199; t=1',
  },
  'ratelimit-policy': {
    description: '`q`: requests that one API key may make in `w` seconds. Absent without a limit.',
    schema: { type: 'string' },
    example: '"api-key"; q=200; w=1; pk=:MTIz:',
  },
} as const satisfies Record<string, oas31.HeaderObject>;
type HeaderName = keyof typeof HEADERS;

const RATE_LIMIT_HEADERS = ['ratelimit', 'ratelimit-policy'] as const satisfies readonly HeaderName[];

function headerRef(name: HeaderName): oas31.ReferenceObject {
  return { $ref: `#/components/headers/${name}` };
}

const HEADERS_OF: Partial<Record<ProblemCode, HeaderName>> = {
  unauthenticated: 'www-authenticate',
  unavailable: 'retry-after',
  history_unavailable: 'retry-after',
  rate_limited: 'retry-after',
  workspace_full: 'retry-after',
  request_in_progress: 'retry-after',
};

/** The responses for these codes, one per status. */
function problemResponses(codes: readonly ProblemCode[]): ZodOpenApiResponsesObject {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries([...byStatus].map(([status, some]) => [status, toResponse(some)]));
}

/** For statuses that an operation doesn't name: those of another method of its path, and those of HTTP itself. */
const OTHER_PROBLEM: oas31.ReferenceObject = { $ref: '#/components/responses/problem' };
const ANYWHERE: readonly ProblemCode[] = ['method_not_allowed', 'request_timeout', 'headers_too_large'];

/** Responses that operations refer to: problems that are mostly alone under their status. */
export function sharedProblemResponses(): Record<string, ZodOpenApiResponseObject> {
  return { ...Object.fromEntries(SHARED.map((code) => [code, describe([code])])), problem: describe(ANYWHERE) };
}

const SHARED: readonly ProblemCode[] = [
  'malformed_request',
  'unauthenticated',
  'insufficient_scope',
  'precondition_failed',
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
