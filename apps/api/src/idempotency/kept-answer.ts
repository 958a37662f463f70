import { isApiKeyText } from '@herald/store/access/api-key-store';
import type { KeptAnswer } from '@herald/store/access/idempotency-store';
import type { Response } from 'express';

/** Response header of an answer that comes from an earlier run of the same request. */
export const REPLAYED = 'idempotency-replayed';
/** Headers that belong to the answer of the operation. All others belong to one response. */
const HEADERS = ['location', 'cache-control', 'etag'];

/**
 * The kept part of an answer. It has no signing secret: a secret is shown once, and Redis holds it encrypted. It has no
 * text that the request had: a repeated request brings it again, and what a Task holds must not outlive its erasure.
 * @param asked the body of the request
 */
export function toKeptAnswer(res: Pick<Response, 'statusCode' | 'get'>, json: string, asked: unknown): KeptAnswer {
  const headers = HEADERS.flatMap((name) => {
    const value = res.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = withoutSecrets(JSON.parse(json));
  const repeated = namesOfRepeats(body, asked);
  return {
    status: res.statusCode,
    headers: Object.fromEntries(headers),
    body: withFields(body, repeated, () => null),
    ...(repeated.length > 0 && { repeated }),
  };
}

/**
 * The body of a kept answer, whole.
 * @param asked the body of the repeated request, which is that of the first
 */
export function toAnswerBody({ body, repeated = [] }: KeptAnswer, asked: unknown): unknown {
  return withFields(body, repeated, (name) => (isObject(asked) ? asked[name] : null));
}

/** The texts of an answer that the request had under the same names. */
function namesOfRepeats(body: unknown, asked: unknown): string[] {
  if (!isObject(body) || !isObject(asked)) return [];
  return Object.keys(body).filter((name) => typeof body[name] === 'string' && body[name] === asked[name]);
}

/** Sets fields where they stand, so that their order stays. */
function withFields(body: unknown, names: readonly string[], valueOf: (name: string) => unknown): unknown {
  if (!isObject(body)) return body;
  return { ...body, ...Object.fromEntries(names.map((name) => [name, valueOf(name)])) };
}

/**
 * An answer without `secret` and `callback.secret`, the two places where the API shows one, and without the token of a
 * portal link and its url, which has the token too, and without a new API key.
 */
function withoutSecrets(body: unknown): unknown {
  if (!isObject(body)) return body;
  if (typeof body.token === 'string') {
    const { token: _token, url: _url, ...link } = body;
    return link;
  }
  if (typeof body.key === 'string' && isApiKeyText(body.key)) {
    const { key: _key, ...record } = body;
    return record;
  }
  const { secret: _secret, ...shown } = body;
  if (!isObject(shown.callback)) return shown;
  const { secret: _callbackSecret, ...callback } = shown.callback;
  return { ...shown, callback };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
