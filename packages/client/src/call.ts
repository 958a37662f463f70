import type { CallOptions, Paged, Route } from './api/operation.ts';
import { ConnectionError, ProblemError } from './errors.ts';
import { createSend, wait, type Answered, type Fetch } from './send.ts';

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

/** They report facts. A fact counts once, however often it is reported. */
const FACTS: readonly string[] = ['reportTransition', 'reportTransitions'];

/**
 * Makes calls of one client: with its key, its limits, and safe repeats.
 * @throws TypeError for options that can't work
 */
export function createCall(options: ClientOptions) {
  const { deadlineMs = 90_000, tryTimeoutMs = 30_000, fetch = (url, init) => globalThis.fetch(url, init) } = options;
  const baseUrl = checkBaseUrl(options.baseUrl);
  checkMs(deadlineMs, 'deadlineMs');
  checkMs(tryTimeoutMs, 'tryTimeoutMs');
  if (typeof fetch !== 'function') throw new TypeError('fetch must be a function');
  const findKey = readKey(options.key);
  const send = createSend({ fetch, wait, now: Date.now, random: Math.random, tryTimeoutMs });

  return async function call(id: string, { method, path }: Route, input: CallInput = {}): Promise<unknown> {
    const idempotencyKey =
      method === 'post' || method === 'patch' ? (input.idempotencyKey ?? newIdempotencyKey()) : false;
    const hasIdempotencyKey = idempotencyKey !== false;
    if (hasIdempotencyKey && !isToken(idempotencyKey)) {
      throw new TypeError('idempotencyKey must be text of visible ASCII characters, without spaces, or false');
    }
    if (input.deadlineMs !== undefined) checkMs(input.deadlineMs, 'deadlineMs');
    const body = input.body === undefined || typeof input.body === 'string' ? input.body : JSON.stringify(input.body);
    const answer = await send(
      {
        method: method.toUpperCase(),
        url: `${baseUrl}${fillPath(path, input.path)}${renderQuery(input.query)}`,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(hasIdempotencyKey && { 'idempotency-key': idempotencyKey }),
        },
        body: body ?? null,
        findKey,
      },
      {
        // A late repeat of a DELETE would find nothing.
        isSafe: method === 'get' || hasIdempotencyKey || FACTS.includes(id),
        hasIdempotencyKey,
        signal: input.signal,
        deadlineMs: input.deadlineMs ?? deadlineMs,
      },
    );
    return readAnswer(answer);
  };
}

function readAnswer({ status, headers, text }: Answered): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const what = text === '' ? 'empty' : `${headers.get('content-type') ?? 'of no type'} and no JSON`;
    throw new ConnectionError(
      `what answered is not Herald: its answer with status ${status} is ${what}; look at baseUrl. The call may have had its effect`,
      { cause },
    );
  }
}

/** A list that can be read page by page, or item by item: `readPage` gives the page at a cursor. */
export function createPages(items: string, readPage: (cursor: string | undefined) => Promise<unknown>): Paged<unknown> {
  const first = readPage(undefined);
  async function* readItems() {
    let cursor: unknown;
    for (let page = (await first) as Page; ; page = (await readPage(String(cursor))) as Page) {
      const list = page[items];
      if (!Array.isArray(list)) throw new ConnectionError(`what answered is not Herald: its page has no ${items}`);
      yield* list;
      if (page.historyUnavailable === true) throw historyUnavailable();
      // A page that leads to itself, or nowhere, is the last.
      if (page.nextCursor == null || page.nextCursor === cursor) return;
      cursor = page.nextCursor;
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: readItems }) as Paged<unknown>;
}

type Page = Readonly<Record<string, unknown>>;

/** As the service itself answers for a page that would have nothing else. */
function historyUnavailable(): ProblemError {
  const detail = 'the history could not be reached: older deliveries than these may be missing; ask again later';
  return new ProblemError({ status: 503, code: 'history_unavailable', detail });
}

function fillPath(path: string, values: CallInput['path'] = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const value = values[name];
    // A dot would lead to another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
      throw new TypeError(`path.${name} must be an id, and not ${value === '' ? 'empty' : JSON.stringify(value)}`);
    }
    return encodeURIComponent(value);
  });
}

function renderQuery(query: CallInput['query'] = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each != null) parameters.append(name, each as string);
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

/** A new `Idempotency-Key`. A page without HTTPS has no `randomUUID`. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function checkBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username + url.password === '') {
    return url.href.replace(/\/+$/, '');
  }
  throw new TypeError('baseUrl must be where Herald is, such as https://herald.example.com');
}

/** It stays out of every message: messages are logged. */
function readKey(key: ClientOptions['key']): () => string | Promise<string> {
  const check = (found: unknown): string => {
    if (isToken(found)) return found;
    const what =
      typeof found !== 'string' ? 'no text' : found === '' ? 'empty' : 'with a space, a line end or the like';
    throw new TypeError(`the key is ${what}: give an API key or the token of a portal link, as it was shown`);
  };
  if (typeof key !== 'function') {
    check(key);
    return () => key;
  }
  return async () => check(await key());
}

function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text);
}

/** What a timer can wait. */
const MOST_MS = 2 ** 31 - 1;

/** @throws TypeError */
export function checkMs(ms: number, name: string): void {
  if (ms > 0 && ms <= MOST_MS) return;
  throw new TypeError(`${name} must be a number of ms above 0, and at most ${MOST_MS} (24 days)`);
}
