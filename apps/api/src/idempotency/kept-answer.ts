import type { KeptAnswer } from '@herald/store/idempotency/idempotency-store';
import type { Response } from 'express';

/** Response header of an answer that an earlier run of the same request brought about. */
export const REPLAYED = 'idempotency-replayed';
/** What belongs to the operation's answer; the other headers belong to the one response. */
const HEADERS = ['location', 'cache-control'];

/** What is kept of an answer: never a signing secret, which is shown once and is in Redis only encrypted. */
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
