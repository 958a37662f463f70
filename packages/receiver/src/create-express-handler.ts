import { createReceive, type BodyFault } from './receive-delivery.ts';
import type { ReceiverOptions } from './receiver-options.ts';
import { bytesOf } from './signatures.ts';

/** The part of a request of Express or `node:http` that is used. */
export type NodeRequest = {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly httpVersionMajor: number;
  /** A Buffer from `express.raw()` counts as the raw body. */
  readonly body?: unknown;
  /** Some platforms provide the raw body here, as bytes or as text. */
  readonly rawBody?: unknown;
  readonly readableDidRead: boolean;
  readonly readableEncoding: string | null;
  readonly destroyed: boolean;
  on(event: string, listener: (value: Uint8Array | string) => void): unknown;
  off(event: string, listener: (value: Uint8Array | string) => void): unknown;
  pause(): unknown;
};

/** The part of a response of Express or `node:http` that is used. */
export type NodeResponse = {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
};

export type ExpressHandler = (req: NodeRequest, res: NodeResponse) => Promise<void>;

/**
 * A handler for `app.post('/hooks/herald', …)` of Express 4 and 5, and for `http.createServer(…)`. It reads the raw
 * body itself, so it must come before any body parser. It never rejects.
 * @throws TypeError for options that can't work
 */
export function createExpressHandler(options: ReceiverOptions): ExpressHandler {
  const { receive, report } = createReceive(options);
  return async (req, res) => {
    const { status, headers, body } = await receive({
      method: req.method ?? '',
      path: req.originalUrl ?? req.url ?? '',
      headers: req.headers,
      readBody: (limitBytes, signal) => readBody(req, limitBytes, signal),
    });
    if (res.headersSent) {
      report(
        new Error(
          `this webhook was answered before the receiver could answer ${status}, by a middleware such as a timeout; give it more time than the receiver's limitMs`,
        ),
      );
      return;
    }
    const { connection: _none, ...withoutConnection } = headers; // which HTTP/2 doesn't know
    const known = req.httpVersionMajor < 2 ? headers : withoutConnection;
    res.writeHead(status, { 'content-type': 'application/json', ...known });
    res.end(JSON.stringify(body));
  };
}

/** The raw body that a raw parser kept, or else read from the stream, up to the limit. */
async function readBody(req: NodeRequest, limitBytes: number, signal: AbortSignal): Promise<Uint8Array | BodyFault> {
  const kept = bytesOf(req.rawBody) ?? (typeof req.body === 'string' ? undefined : bytesOf(req.body));
  if (kept) return kept.length > limitBytes ? 'body_too_large' : kept;
  // A parser that leaves a body alone leaves an empty object at most.
  const isParsed = typeof req.body === 'string' || Object.keys(req.body ?? {}).length > 0;
  if (isParsed || req.readableDidRead || req.readableEncoding !== null) return 'body_already_read';
  if (signal.aborted) return 'body_too_slow';
  if (req.destroyed) return 'body_incomplete';
  if (Number(req.headers['content-length']) > limitBytes) return 'body_too_large';
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const finish = (body: Uint8Array | BodyFault) => {
      req.off('data', take);
      signal.removeEventListener('abort', giveUp);
      resolve(body);
    };
    const take = (chunk: Uint8Array | string) => {
      if (typeof chunk === 'string') {
        finish('body_already_read');
        return;
      }
      length += chunk.length;
      chunks.push(chunk);
      if (length <= limitBytes) return;
      req.pause();
      finish('body_too_large');
    };
    const giveUp = () => {
      req.pause();
      finish('body_too_slow');
    };
    signal.addEventListener('abort', giveUp);
    req.on('data', take);
    req.on('end', () => {
      finish(Buffer.concat(chunks));
    });
    // After the end of the body these have no effect.
    for (const ending of ['error', 'close']) {
      req.on(ending, () => {
        finish('body_incomplete');
      });
    }
  });
}
