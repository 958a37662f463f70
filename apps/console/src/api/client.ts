import createClient from 'openapi-fetch';
import { takeEarly } from '../session/early-answer.ts';
import { session } from '../session/session.ts';
import { ApiAway, ApiProblem } from './api-problem.ts';
import type { components, paths } from './api-types.ts';
import { noteServerTime } from './server-clock.ts';

/** The shapes of requests and answers, by the names of the OpenAPI document. */
export type Schemas = components['schemas'];

/** Long enough for a test event, whose receiver has 15 seconds. */
const DEADLINE_MS = 30_000;

/** The API, typed by its OpenAPI document. It knows no other origin than that of the page. */
export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch: async (request) => {
    const token = session.get();
    const isOperators = new URL(request.url).pathname.startsWith('/api/operator');
    if (token !== undefined && !isOperators) request.headers.set('authorization', `Bearer ${token}`);
    const response = await (takeEarly(request) ??
      fetch(request, {
        signal: AbortSignal.any([request.signal, AbortSignal.timeout(DEADLINE_MS)]),
      }));
    noteServerTime(response.headers.get('date'));
    return response;
  },
});

/**
 * The data of an answer.
 * @throws ApiProblem or ApiAway
 */
export async function read<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked.catch((reason: unknown) => {
    throw new ApiAway(String(reason));
  });
  if (response.ok && data !== undefined) return data;
  throw new ApiProblem(response.status, error, response.headers.get('retry-after'));
}
