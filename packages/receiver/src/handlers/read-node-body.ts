import type { IncomingMessage } from 'node:http';
import type { BodyFault } from './answer.ts';

/** The part of Express' request that is used; a request of `node:http` fits too. */
export type NodeRequest = IncomingMessage & {
  /** A Buffer from `express.raw()` counts as the raw body. */
  readonly body?: unknown;
  /** Some platforms provide the raw body here. */
  readonly rawBody?: unknown;
  readonly originalUrl?: string;
};

/** The raw body that a raw parser kept, or else read from the stream, up to the limit. */
export async function readNodeBody(req: NodeRequest, limitBytes: number): Promise<Uint8Array | BodyFault> {
  for (const kept of [req.rawBody, req.body]) {
    if (kept instanceof Uint8Array) return kept.length > limitBytes ? 'body_too_large' : kept;
  }
  if (req.readableDidRead) return 'body_already_read';
  if (req.destroyed) return 'body_incomplete';
  if (Number(req.headers['content-length']) > limitBytes) return 'body_too_large';
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limitBytes) {
        chunks.push(chunk);
        return;
      }
      req.pause();
      resolve('body_too_large');
    });
    req.on('end', () => {
      resolve(Buffer.concat(chunks));
    });
    // After the end of the body these have no effect.
    for (const ending of ['error', 'close']) {
      req.on(ending, () => {
        resolve('body_incomplete');
      });
    }
  });
}
