import { ValidationError } from '@herald/core';
import type { IncomingMessage } from 'node:http';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

const PLAIN = /^[\x21-\x7e]{1,255}$/;
/** A String of RFC 9651 section 3.3.3, as draft-ietf-httpapi-idempotency-key-header asks for. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * The request's `Idempotency-Key`. `"abc"` in quotes, as the IETF draft writes it, is the same key as plain `abc`.
 * @throws ValidationError when it is given twice, or is not 1 to 255 visible ASCII characters
 */
export function readIdempotencyKey(req: Pick<IncomingMessage, 'headers' | 'headersDistinct'>): string | undefined {
  // Node joins the values of a repeated header. It makes the list of all values on demand.
  if (req.headers['idempotency-key'] === undefined) return undefined;
  const [text = '', ...more] = req.headersDistinct['idempotency-key'] ?? [];
  if (more.length > 0) throw invalid('must be given once');
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : text;
  if (key === undefined || !PLAIN.test(key)) {
    throw invalid('must be 1 to 255 visible ASCII characters without spaces, plain or in double quotes');
  }
  return key;
}

function invalid(message: string): ValidationError {
  return new ValidationError([{ path: IDEMPOTENCY_KEY, message }]);
}
