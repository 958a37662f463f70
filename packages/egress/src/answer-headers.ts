import { ANSWER_HEADERS, type AnswerHeaders } from '@herald/core';
import type { IncomingHttpHeaders } from 'node:http';

/** The part of each header that is kept, in bytes. */
const KEPT_BYTES = 256;

/** Node refuses an answer with most of them; some it takes for letters. */
const CONTROLS = /\p{Cc}/gu;

const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * The headers of an answer that explain it, as text: the first 256 bytes of each, with invalid UTF-8 and control characters as
 * U+FFFD. Undefined when it has none.
 */
export function readAnswerHeaders(headers: IncomingHttpHeaders): AnswerHeaders | undefined {
  const found = ANSWER_HEADERS.flatMap((name) => {
    const value = headers[name];
    return value === undefined || value === '' ? [] : [[name, toText(String(value))] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

function toText(value: string): string {
  // Most values are such, and a decoder for each would cost more than the rest of an answer.
  if (value.length <= KEPT_BYTES && PRINTABLE_ASCII.test(value)) return value;
  // Node reads each byte as one character.
  const bytes = Buffer.from(value, 'latin1');
  const isWhole = bytes.length <= KEPT_BYTES;
  const text = new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: !isWhole });
  return text.replaceAll(CONTROLS, '\ufffd');
}
