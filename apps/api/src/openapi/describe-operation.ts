import {
  ApprovalIdText,
  DeliveryIdText,
  ReceiverIdText,
  ReplayIdText,
  TaskIdText,
  type ProblemCode,
} from '@herald/core';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import type { Operation, RouteTable } from '../routing/operation.ts';
import { headerRef, RATE_LIMIT_HEADERS, type HeaderName } from './headers.ts';
import { problemResponses } from './problem-responses.ts';

type Described = Omit<Operation<never>, 'handle'>;
type Table = Omit<RouteTable<never>, 'operations'>;

const IDEMPOTENCY_KEY_REF = { $ref: '#/components/parameters/Idempotency-Key' };

const ID_TEXTS = {
  receiver: ReceiverIdText,
  task: TaskIdText,
  delivery: DeliveryIdText,
  replay: ReplayIdText,
  approval: ApprovalIdText,
} as const;

/** An operation of a table, as OpenAPI describes it. */
export function describeOperation(operation: Described, table: Table): ZodOpenApiOperationObject {
  const { id, summary, description, answer, unavailable } = operation;
  const { tag, scope } = table;
  const scopeText = scope && `Needs an API key with the scope \`${scope}\`.`;
  const query = operation.query instanceof z.ZodObject ? operation.query : undefined;
  const body = operation.batch ?? operation.body;
  const params = Object.fromEntries(idsOf(operation, table).map(([name, thing]) => [name, ID_TEXTS[thing]]));
  const response = describeAnswer(operation, table);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scopeText].filter((text) => text !== undefined).join('\n\n'),
    security: scope === undefined ? [] : [{ apiKey: [scope] }],
    requestParams: { path: z.object(params), ...(query && { query }) },
    ...(isIdempotent(operation, table) && { parameters: [IDEMPOTENCY_KEY_REF] }),
    ...(body && {
      requestBody: { required: !body.safeParse({}).success, content: { 'application/json': { schema: body } } },
    }),
    responses: {
      [answer.status]: response,
      ...(unavailable !== undefined && { 503: { ...response, description: unavailable } }),
      ...problemResponses(problemsOf(operation, table)),
    },
  };
}

/** The ids in the path of an operation. An id of another form is answered with 404, like one that leads nowhere. */
function idsOf({ path }: Described, { ids }: Table) {
  return Object.entries(ids).filter(([name]) => path.includes(`{${name}}`));
}

/** Every POST takes an `Idempotency-Key`. */
function isIdempotent(operation: Described, { scope }: Table): boolean {
  return operation.method === 'post' && scope !== undefined;
}

function describeAnswer(operation: Described, table: Table): ZodOpenApiResponseObject {
  const { description, schema, headers = [], isPageToo } = operation.answer;
  const { scope } = table;
  const names: readonly HeaderName[] = [
    'x-request-id',
    ...headers,
    ...(isIdempotent(operation, table) ? (['idempotency-replayed'] as const) : []),
    // Executor keys have no limit.
    ...(scope === undefined || scope === 'execute' ? [] : RATE_LIMIT_HEADERS),
  ];
  return {
    description,
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    content: { 'application/json': { schema }, ...(isPageToo && { 'text/html': { schema: { type: 'string' } } }) },
  };
}

/** Every code that the operation may answer with. */
function problemsOf(operation: Described, table: Table): ProblemCode[] {
  const { body, problems = [] } = operation;
  if (table.scope === undefined) return ['malformed_request', ...problems];
  const notFound = idsOf(operation, table).map(([, thing]) => `${thing}_not_found` as const);
  const codes: ProblemCode[] = ['malformed_request'];
  if (body) codes.push('invalid_json', 'payload_too_large', 'unsupported_media_type');
  // Every operation refuses unknown query parameters.
  codes.push('validation_failed', 'unauthenticated', 'insufficient_scope');
  // A path parameter that cannot be decoded leads to no route.
  if (notFound.length > 0) codes.push('route_not_found', ...notFound);
  codes.push(...problems);
  if (isIdempotent(operation, table)) codes.push('idempotency_conflict', 'request_in_progress');
  codes.push('rate_limited', 'internal', 'unavailable');
  return codes;
}
