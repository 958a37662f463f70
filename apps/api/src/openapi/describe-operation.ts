import {
  ApiKeyIdText,
  ApprovalIdText,
  DeliveryIdText,
  ReceiverIdText,
  PortalLinkIdText,
  ReplayIdText,
  TaskIdText,
  WorkspaceIdText,
  type ProblemCode,
} from '@herald/core';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { isForPortalLinks, type Operation, type RouteTable } from '../http/operation.ts';
import { headerRef, RATE_LIMIT_HEADERS, type HeaderName } from './headers.ts';
import { OTHER_PROBLEM, problemResponses } from './problem-responses.ts';

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
  // A path parameter that cannot be decoded leads to no route.
  if (notFound.length > 0) codes.push('route_not_found', ...notFound);
  codes.push(...problems);
  if (isIdempotent(operation, table)) codes.push('idempotency_conflict', 'request_in_progress');
  codes.push('rate_limited', 'internal', 'unavailable');
  return codes;
}
