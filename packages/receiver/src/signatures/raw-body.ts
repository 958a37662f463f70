/** The unparsed body. A string stands for its UTF-8 bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

/** The bytes of a raw body; undefined for any other value, such as an object that a parser made. */
export function bytesOf(rawBody: unknown): Uint8Array | undefined {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (rawBody instanceof Uint8Array) return rawBody;
  // `instanceof` would refuse a buffer of another realm, such as a test runner's.
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  return undefined;
}
