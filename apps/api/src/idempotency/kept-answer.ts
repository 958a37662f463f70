import type { KeptAnswer } from '@herald/store/idempotency/idempotency-store';
import type { Response } from 'express';

/** Response header of an answer that comes from an earlier run of the same request. */
export const REPLAYED = 'idempotency-replayed';
/** Headers that belong to the answer of the operation. All others belong to one response. */
const HEADERS = ['location', 'cache-control'];

/** The kept part of an answer. It has no signing secret: a secret is shown once, and Redis holds it encrypted. */
export function toKeptAnswer(res: Pick<Response, 'statusCode' | 'get'>, json: string): KeptAnswer {
  const headers = HEADERS.flatMap((name) => {
    const value = res.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { status: res.statusCode, headers: Object.fromEntries(headers), body: withoutSecrets(JSON.parse(json)) };
}

/** An answer without `secret` and `callback.secret`, the two places where the API shows one. */
function withoutSecrets(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { secret: _secret, ...shown } = body;
  if (!isObject(shown.callback)) return shown;
  const { secret: _callbackSecret, ...callback } = shown.callback;
  return { ...shown, callback };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
