import createFetchClient from 'openapi-fetch';
import type { CallOptions, Route } from '../api/operation.ts';
import { ConnectionError } from '../errors/connection-error.ts';
import { createSend, type Fetch } from './create-send.ts';
import { newIdempotencyKey } from './idempotency-key.ts';
import { wait } from './wait.ts';

export type ClientOptions = {
  /** Where the service is, such as `https://herald.example.com`. */
  readonly baseUrl: string;
  /** An API key (`hrld_…`) or the token of a portal link (`hrlp_…`), or what finds one for each call. */
  readonly key: string | (() => string | Promise<string>);
  /** How long a call may take, with all its repeats. Default: 90 s, longer than a crashed API holds an `Idempotency-Key`. */
  readonly deadlineMs?: number;
  /** How long one try of a call waits for its answer. Default: 30 s. */
  readonly tryTimeoutMs?: number;
  /** Default: `fetch` of the platform. */
  readonly fetch?: Fetch;
};

/** What a call sends. The types of operations say what each takes. */
export type CallInput = CallOptions & {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  /** A string is JSON already. */
  readonly body?: unknown;
};

/** The types of openapi-fetch follow paths. Ours follow operations: `Operation` has told them to the caller. */
type ByOperation = {
  request(method: string, path: string, init: RequestPlan): Promise<{ readonly data?: unknown }>;
};
type RequestPlan = {
  readonly params: Pick<CallInput, 'path' | 'query'>;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (request: Request) => Promise<Response>;
};

/** They report facts. A fact counts once, however often it is reported. */
const FACTS: readonly string[] = ['reportTransition', 'reportTransitions'];

/** Makes calls of one client: with its key, its limits, and safe repeats. */
export function createCall({
  baseUrl,
  key,
  deadlineMs = 90_000,
  tryTimeoutMs = 30_000,
  fetch = (url, init) => globalThis.fetch(url, init),
}: ClientOptions) {
  const send = createSend({ fetch, wait, now: Date.now, random: Math.random, tryTimeoutMs });
  const api = createFetchClient({
    baseUrl,
    bodySerializer: (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body)),
  }) as unknown as ByOperation;

  return async function call(id: string, { method, path }: Route, input: CallInput = {}): Promise<unknown> {
    const idempotencyKey = method === 'post' ? (input.idempotencyKey ?? newIdempotencyKey()) : false;
    const hasIdempotencyKey = idempotencyKey !== false;
    const plan = {
      // A late repeat of a PATCH could undo the change of another. That of a DELETE would find nothing.
      isSafe: method === 'get' || hasIdempotencyKey || FACTS.includes(id),
      hasIdempotencyKey,
      signal: input.signal,
      deadlineMs: input.deadlineMs ?? deadlineMs,
    };
    const { data } = await api
      .request(method, path, {
        params: { path: input.path, query: input.query },
        body: input.body,
        headers: {
          authorization: `Bearer ${typeof key === 'string' ? key : await key()}`,
          ...(hasIdempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        },
        fetch: (request) => send(request, plan),
      })
      .catch(explainText);
    return data;
  };
}

function explainText(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  throw new ConnectionError('what answered is not Herald: its answer is no JSON; look at baseUrl', { cause: error });
}
