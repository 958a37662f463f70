import { createReceive, type BodyFault } from './receive-delivery.ts';
import type { ReceiverOptions } from './receiver-options.ts';

export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * A handler for servers with fetch's `Request` and `Response`: Hono, Next.js route handlers, Remix and others, on Node.
 * It never rejects.
 * @throws TypeError for options that can't work
 */
export function createFetchHandler(options: ReceiverOptions): FetchHandler {
  const { receive } = createReceive(options);
  return async (request) => {
    const { status, headers, body } = await receive({
      method: request.method,
      path: pathOf(request.url),
      headers: request.headers,
      readBody: (limitBytes, signal) => readBody(request, limitBytes, signal),
    });
    return Response.json(body, { status, headers: { ...headers } });
  };
}

/** Some frameworks have requests of their own, whose url is a path already. */
function pathOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Reads the raw body, up to the limit. */
async function readBody(request: Request, limitBytes: number, signal: AbortSignal): Promise<Uint8Array | BodyFault> {
  if (request.bodyUsed || request.body?.locked) return 'body_already_read';
  if (signal.aborted) return 'body_too_slow';
  if (Number(request.headers.get('content-length')) > limitBytes) return 'body_too_large';
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return new Uint8Array();
  const stop = () => reader.cancel().catch(() => undefined); // the sender is refused either way
  const tooSlow = new Promise<'body_too_slow'>((resolve) => {
    signal.addEventListener('abort', () => {
      resolve('body_too_slow');
    });
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await Promise.race([reader.read().catch(() => 'body_incomplete' as const), tooSlow]);
    if (next === 'body_too_slow') void stop();
    if (typeof next === 'string') return next;
    if (next.done) return Buffer.concat(chunks);
    length += next.value.length;
    if (length > limitBytes) {
      void stop();
      return 'body_too_large';
    }
    chunks.push(next.value);
  }
}
