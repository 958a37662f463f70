import { ConnectionError, DeadlineError, ProblemError, type InputProblem } from './errors.ts';

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

export type Outgoing = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The API key, which is found within the deadline. */
  readonly findKey: () => string | Promise<string>;
};

export type SendPlan = Repeatable & {
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs: number;
};

/** An answer, read to its end. */
export type Answered = { readonly status: number; readonly headers: Headers; readonly text: string };

/**
 * Sends a request until it is answered for good, as far as repeating is safe and the deadline allows.
 * @returns an answer with status 2xx
 * @throws ProblemError, ConnectionError, DeadlineError, or the signal's reason
 */
export function createSend({ fetch, wait, now, random, tryTimeoutMs }: SendDeps) {
  return async function send({ findKey, url, ...request }: Outgoing, plan: SendPlan): Promise<Answered> {
    const { signal, deadlineMs } = plan;
    const endsAt = now() + deadlineMs;
    signal?.throwIfAborted();
    const authorization = `Bearer ${await within(findKey, deadlineMs, signal)}`;
    const init = { ...request, headers: { ...request.headers, authorization }, redirect: 'manual' as const };
    for (let repeat = 1; ; repeat++) {
      signal?.throwIfAborted();
      const timeoutMs = Math.max(1, Math.min(tryTimeoutMs, endsAt - now()));
      const came = await tryOnce(fetch, url, init, { timeoutMs, signal });
      if (!(came instanceof ConnectionError)) {
        if (came.status >= 200 && came.status < 300) return came;
        // A browser shows of a redirect only that it is one.
        if (came.status < 400) throw redirected(came, url);
      }
      const fault = came instanceof ConnectionError ? came : readProblem(came, now());
      if (fault instanceof ConnectionError && now() >= endsAt) throw new DeadlineError(deadlineMs, { cause: fault });
      const delayMs = repeatDelay(repeat, fault instanceof ProblemError ? fault.retryAfterMs : undefined, random);
      if (!judgeRepeat(fault, plan) || now() + delayMs >= endsAt) throw fault;
      await wait(delayMs, signal);
    }
  };
}

/** Followed, a POST would become a GET, and the key would be for whoever is there. */
function redirected({ headers }: Answered, url: string): ConnectionError {
  const to = headers.get('location') ?? 'elsewhere';
  return new ConnectionError(
    `${new URL(url).origin} redirects to ${to.slice(0, 200)}, which the client does not follow: look at baseUrl`,
  );
}

/** What it comes to. @throws DeadlineError, or the signal's reason */
async function within<T>(find: () => T | Promise<T>, deadlineMs: number, signal: AbortSignal | undefined): Promise<T> {
  const found = find();
  if (!(found instanceof Promise)) return found;
  const over = new AbortController();
  const giveUp = () => {
    over.abort(signal?.reason);
  };
  signal?.addEventListener('abort', giveUp, { once: true });
  const late = wait(deadlineMs, over.signal).then(() => {
    throw new DeadlineError(deadlineMs);
  });
  try {
    return await Promise.race([found, late]);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    over.abort();
  }
}

type TryLimits = { readonly timeoutMs: number; readonly signal: AbortSignal | undefined };

/** One request, and its answer to the end. @throws the signal's reason when the caller gives up */
async function tryOnce(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  { timeoutMs, signal }: TryLimits,
): Promise<Answered | ConnectionError> {
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
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    return new ConnectionError('Herald could not be reached, or hung up before its answer ended', { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** What a repeat of a call would mean. */
export type Repeatable = {
  /** The call has its effect once, however often it is sent. */
  readonly isSafe: boolean;
  readonly hasIdempotencyKey: boolean;
};

/** A proxy's words for a broken connection behind it, and Herald's for a moment without its store. */
const AWAY: readonly number[] = [502, 503, 504];

/** Whether to send a call again. After 429 nothing has happened, after the other faults it may have. */
export function judgeRepeat(fault: ProblemError | ConnectionError, { isSafe, hasIdempotencyKey }: Repeatable): boolean {
  if (!(fault instanceof ProblemError)) return isSafe;
  if (fault.status === 429) return true;
  // An earlier try is still in work, or its API has died: the key is free again after a minute at the latest.
  if (fault.code === 'request_in_progress') return hasIdempotencyKey;
  return isSafe && AWAY.includes(fault.status);
}

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/**
 * How long to wait before a repeat, counted from 1. It doubles, with jitter, so that many clients don't come back at the
 * same moment. The service is given the time that it asks for.
 */
export function repeatDelay(repeat: number, retryAfterMs: number | undefined, random: () => number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** (repeat - 1));
  return (retryAfterMs ?? 0) + longest * (0.5 + random() / 2);
}

/** Waits. @throws the signal's reason when it is aborted */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      // The caller's own reason, whatever it is.
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The problem that an answer is, whoever sent it. */
export function readProblem({ status, headers, text }: Answered, now: number): ProblemError {
  const { detail, code, errors, requestId } = readFields(text);
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  const id = requestId ?? headers.get('x-request-id') ?? undefined;
  return new ProblemError({
    status,
    code: code ?? 'unknown',
    detail: detail ?? `answered with status ${status}, and no problem of Herald`,
    ...(errors && { errors }),
    ...(id !== undefined && { requestId: id }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

type Fields = { detail?: string; code?: string; requestId?: string; errors?: InputProblem[] };

/** Whoever answered may be no Herald: what has another type is left out. */
function readFields(text: string): Fields {
  const json = parseObject(text);
  const textOf = (name: string) => {
    const value = json[name];
    return typeof value === 'string' ? { [name]: value } : {};
  };
  const errors: unknown[] = Array.isArray(json.errors) ? json.errors : [];
  return {
    ...textOf('detail'),
    ...textOf('code'),
    ...textOf('requestId'),
    errors: errors.filter((each): each is InputProblem => {
      const { path, message } = (each ?? {}) as Partial<InputProblem>;
      return typeof path === 'string' && typeof message === 'string';
    }),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    // The page of a proxy. Its status says what there is to say.
    return {};
  }
}

/** `Retry-After`: seconds, or a date (RFC 9110 section 10.2.3). */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
