/** The part of a body that is kept. */
export const KEPT_BYTES = 1_024;

const WHOLE = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The beginning of an answer's body as text: at most 1 KiB, cut between characters, and otherwise as it came. It may
 * hold markup, terminal escapes and characters that hide: whoever shows it must escape it. What is no UTF-8 becomes
 * U+FFFD, and the text stays within 1 KiB.
 */
export function readAnswerText(bodyStart: Uint8Array): string {
  const isWhole = bodyStart.length <= KEPT_BYTES;
  if (isWhole) return shorten(WHOLE.decode(bodyStart));
  // A decoder that expects more omits a character that the cut split.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return shorten(decoder.decode(bodyStart.subarray(0, KEPT_BYTES), { stream: true }));
}

/** Cuts the text to the limit again: a replacement takes three bytes instead of one. */
function shorten(text: string): string {
  if (text.length * 3 <= KEPT_BYTES) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES)).read);
}
