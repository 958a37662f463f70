/** The body exactly as it came, before any parser. A string stands for its UTF-8 bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** Its bytes; undefined for what is no raw body, such as an object that a parser made. */
export function bytesOf(rawBody: unknown): Uint8Array | undefined {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  // Not instanceof: the buffer of another realm, such as a test runner's, is one too.
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  return undefined;
}
