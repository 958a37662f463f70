import type { BodyFault } from './answer.ts';

/** Reads the raw body, up to the limit. */
export async function readFetchBody(request: Request, limitBytes: number): Promise<Uint8Array | BodyFault> {
  if (request.bodyUsed) return 'body_already_read';
  if (Number(request.headers.get('content-length')) > limitBytes) return 'body_too_large';
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = (request.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return new Uint8Array();
  for (;;) {
    const next = await reader.read().catch(() => 'broken' as const);
    if (next === 'broken') return 'body_incomplete';
    if (next.done) return Buffer.concat(chunks);
    length += next.value.length;
    if (length > limitBytes) {
      await reader.cancel().catch(() => undefined); // the sender is refused either way
      return 'body_too_large';
    }
    chunks.push(next.value);
  }
}
