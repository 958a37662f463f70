import { takeEarly } from '../session/early-answer.ts';
import { session } from '../session/session.ts';
import type { components } from './api-types.ts';
import { createApi } from './create-api.ts';

/** The shapes of requests and answers, by the names of the OpenAPI document. */
export type Schemas = components['schemas'];

/** Long enough for a test event, whose receiver has 15 seconds. */
const DEADLINE_MS = 30_000;

/** It knows no other origin than that of the page. */
export const api = createApi(async ({ method, path, headers, body, signal }) => {
  const token = session.get();
  const isOperators = path.startsWith('/api/operator');
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const response = await (takeEarly({ method, path }) ??
    // Not by the address of the page: one with a user and a password in it, as an operator may type it, allows no request.
    fetch(new URL(path, location.origin), {
      method,
      headers: { ...headers, ...(token !== undefined && !isOperators && { authorization: `Bearer ${token}` }) },
      body,
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    }));
  noteServerTime(response.headers.get('date'));
  return response;
});

/** A difference up to this comes from the way, and from a header that counts whole seconds. */
const NOISE_MS = 2_000;

let skewMs = 0;

/** Learns the time of the service from an answer's `Date`: the clock of a reader may be wrong by minutes. */
export function noteServerTime(date: string | null, now = Date.now()): void {
  const skew = date === null ? NaN : Date.parse(date) - now;
  if (!Number.isNaN(skew)) skewMs = Math.abs(skew) > NOISE_MS ? skew : 0;
}

/** Now, by the clock of the service, in epoch ms. */
export function serverNow(): number {
  return Date.now() + skewMs;
}
