import {
  document,
  findSchemaBreaches,
  pointerTo,
  resolve,
  type OperationObject,
  type ResponseObject,
} from './openapi-document.ts';

export interface SentRequest {
  method: string;
  /** Path and query, as sent. */
  path: string;
}

export interface ReceivedAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON. */
  body: unknown;
}

interface Route {
  template: string;
  pattern: RegExp;
  operations: Readonly<Record<string, OperationObject>>;
}

/** The document, the same for people, and what operators look at: no part of the API that it describes. */
const PAGES = /^\/(docs(\/.*)?|openapi\.json|admin(\/.*)?|metrics)$/;

/** What a request may meet before it has met an operation. */
const BEFORE_ANY_OPERATION = [
  ...['malformed_request', 'headers_too_large', 'request_timeout'],
  ...['unauthenticated', 'insufficient_scope', 'foreign_origin', 'rate_limited', 'unavailable'],
  // Of its Idempotency-Key.
  ...['validation_failed', 'idempotency_conflict', 'request_in_progress'],
];
/** An id that can't be one is found out before the method. */
const OF_ANY_PATH = [
  ...['route_not_found', 'receiver_not_found', 'task_not_found', 'approval_not_found'],
  ...['delivery_not_found', 'replay_not_found', 'workspace_not_found', 'key_not_found', 'portal_link_not_found'],
];
const OF_ANY_BODY = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];

const routes: readonly Route[] = Object.entries(document.paths).map(([template, operations]) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/*$`),
  operations,
}));

/** In what an answer departs from the OpenAPI document; empty: in nothing. */
export function findAnswerBreaches(request: SentRequest, answer: ReceivedAnswer): string[] {
  const path = request.path.replace(/\?.*$/s, '');
  if (PAGES.test(path)) return [];
  const route = routes.find(({ pattern }) => pattern.test(path));
  if (!route) return findProblemBreaches(answer, [...BEFORE_ANY_OPERATION, ...OF_ANY_BODY, 'route_not_found']);
  if (request.method === 'OPTIONS' && answer.status === 204) return answer.headers.allow ? [] : ['no Allow'];
  const method = (request.method === 'HEAD' ? 'get' : request.method).toLowerCase();
  const operation = route.operations[method];
  if (!operation) {
    const codes = [...BEFORE_ANY_OPERATION, ...OF_ANY_BODY, ...OF_ANY_PATH, 'method_not_allowed'];
    return findProblemBreaches(answer, codes);
  }
  const { code } = (answer.body ?? {}) as { code?: string };
  // The answer to a HEAD has no code.
  if (path.endsWith('//') && answer.status === 404 && request.method === 'HEAD') return [];
  const isOfSlashes = path.endsWith('//') && answer.status === 404 && code === 'route_not_found';
  if (isOfSlashes) return findProblemBreaches(answer, ['route_not_found']);
  const response = operation.responses[String(answer.status)];
  if (response) {
    const at = pointerTo('paths', route.template, method, 'responses', String(answer.status));
    const { item, pointer } = resolve<ResponseObject>(response, at);
    return findResponseBreaches(item, pointer, answer, request.method === 'HEAD');
  }
  if (answer.status === 408 || answer.status === 431) return findProblemBreaches(answer, BEFORE_ANY_OPERATION);
  return [`status ${answer.status} is not documented`];
}

function findResponseBreaches(
  { headers = {}, content = {}, 'x-problem-codes': codes }: ResponseObject,
  pointer: string,
  answer: ReceivedAnswer,
  isWithoutBody: boolean,
): string[] {
  const ofHeaders = Object.entries(headers).flatMap(([name, header]) => {
    const { item, pointer: at } = resolve(header, `${pointer}${pointerTo('headers', name)}`);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) return item.required === true ? [`the header ${name} is missing`] : [];
    return findSchemaBreaches(`${at}/schema`, value).map((breach) => `the header ${name}: ${breach}`);
  });
  if (isWithoutBody) return ofHeaders;
  const type = (answer.headers['content-type'] ?? '').replace(/;.*$/, '');
  if (!(type in content)) return [...ofHeaders, `the content type "${type}" is not documented`];
  const at = `${pointer}${pointerTo('content', type, 'schema')}`;
  const { code = '' } = (answer.body ?? {}) as { code?: string };
  const ofCode = codes && !codes.includes(code) ? [`the code ${code} is not documented`] : [];
  return [...ofHeaders, ...ofCode, ...findSchemaBreaches(at, answer.body)];
}

/** An answer that belongs to no operation must be a problem of one of these codes. Without its body, that of a HEAD, nothing more shows. */
function findProblemBreaches({ status, headers, body }: ReceivedAnswer, codes: readonly string[]): string[] {
  if (!headers['content-type']?.startsWith('application/problem+json')) return [`status ${status} is no problem`];
  if (body === '') return [];
  const breaches = findSchemaBreaches('/components/schemas/Problem', body);
  const { code } = body as { code: string };
  return codes.includes(code) ? breaches : [...breaches, `the code ${code} is not to be expected here`];
}
