import { patient } from '@herald/test-kit';
import { findAnswerBreaches } from './find-answer-breaches.ts';

export interface RequestOptions {
  /** API key; without it the request carries no authorization. */
  key?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string | Buffer<ArrayBuffer>;
  headers?: Readonly<Record<string, string>>;
  /** Default 15 s: an API that hangs fails the test. */
  deadlineMs?: number;
  /** It goes to an API of a former release, whose answers lack what was documented since. */
  toFormerRelease?: boolean;
}

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON or a problem, else the text. */
  body: unknown;
  text: string;
  durationMs: number;
}

/** All of an answer; of a stream, which doesn't end, what comes first. */
async function readAnswerText(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.text();
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

/** Sends a request to the API, and throws when its answer is not as the OpenAPI document says. */
export async function sendRequest(
  origin: string,
  method: string,
  path: string,
  { key, body, rawBody, headers = {}, deadlineMs = 15_000, toFormerRelease = false }: RequestOptions = {},
): Promise<HttpAnswer> {
  const startedAt = performance.now();
  const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(origin + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { body: payload }),
    signal: AbortSignal.timeout(patient(deadlineMs)),
  });
  const text = await readAnswerText(response);
  const isJson = /^application\/(problem\+)?json\b/.test(response.headers.get('content-type') ?? '');
  const answer: HttpAnswer = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: isJson && text !== '' ? (JSON.parse(text) as unknown) : text,
    text,
    durationMs: performance.now() - startedAt,
  };
  const breaches = toFormerRelease ? [] : findAnswerBreaches({ method, path }, answer);
  if (breaches.length > 0) {
    throw new Error(`the answer to ${method} ${path} is not as documented: ${breaches.join('; ')}\n${text}`);
  }
  return answer;
}

/** The body of an answer that must have this status. */
export function bodyOf(answer: HttpAnswer, status: number): unknown {
  if (answer.status !== status) throw new Error(`expected status ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}
