import { ConnectionError } from '../errors/connection-error.ts';
import { DeadlineError } from '../errors/deadline-error.ts';
import { ProblemError } from '../errors/problem-error.ts';
import { judgeRepeat, repeatDelay, type Repeatable } from './judge-repeat.ts';
import { readProblem } from './read-problem.ts';

/** `fetch`, as far as it is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export type SendDeps = {
  readonly fetch: Fetch;
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
  /** A try without an answer counts as broken after this. */
  readonly tryTimeoutMs: number;
};

export type SendPlan = Repeatable & {
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs: number;
};

/**
 * Sends a request until it is answered for good, as far as repeating is safe and the deadline allows.
 * @returns an answer with status 2xx
 * @throws ProblemError, ConnectionError, DeadlineError, or the signal's reason
 */
export function createSend({ fetch, wait, now, random, tryTimeoutMs }: SendDeps) {
  return async function send(request: Request, plan: SendPlan): Promise<Response> {
    const { signal, deadlineMs } = plan;
    const endsAt = now() + deadlineMs;
    // Read once: a repeat sends the same.
    const body = request.body === null ? null : await request.text();
    const { url, method, headers } = request;
    for (let repeat = 1; ; repeat++) {
      signal?.throwIfAborted();
      const timeoutMs = Math.min(tryTimeoutMs, endsAt - now());
      const came = await tryOnce(() => now(), fetch, url, { method, headers, body }, { timeoutMs, signal });
      if (came instanceof Response) return came;
      if (came instanceof ConnectionError && now() >= endsAt) throw new DeadlineError(deadlineMs, { cause: came });
      const delayMs = repeatDelay(repeat, came instanceof ProblemError ? came.retryAfterMs : undefined, random);
      if (!judgeRepeat(came, plan) || now() + delayMs >= endsAt) throw came;
      await wait(delayMs, signal);
    }
  };
}

type TryLimits = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** One request, and its answer to the end. @throws the signal's reason when the caller gives up */
async function tryOnce(
  now: () => number,
  fetch: Fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: TryLimits,
): Promise<Response | ProblemError | ConnectionError> {
  // `AbortSignal.any` would keep a listener on a signal that lives long.
  const controller = new AbortController();
  const abort = () => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new Error(`no answer within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    // To its end: a connection that breaks in the middle of an answer is broken.
    const text = await response.text();
    const { status, headers } = response;
    return response.ok ? new Response(text, { status, headers }) : readProblem({ status, headers, text }, now());
  } catch (cause) {
    signal?.throwIfAborted();
    return new ConnectionError('Herald could not be reached, or hung up before its answer ended', { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
