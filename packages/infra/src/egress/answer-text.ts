/** How much of a body is kept. */
export const KEPT_BYTES = 1_024;

/** Controls but tab and newline; then marks that reorder or hide text, line separators, and tag characters. */
const UNSAFE =
  /[^\P{Cc}\t\n]|[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * The beginning of an answer's body as text that is safe to show in a terminal, a log or a page that escapes markup:
 * at most 1 KiB of UTF-8, cut between characters; what is no UTF-8 or could disguise the rest becomes U+FFFD.
 */
export function readAnswerText(bodyStart: Uint8Array): string {
  const isWhole = bodyStart.length <= KEPT_BYTES;
  // A decoder that expects more leaves out the character that the cut went through.
  const text = new TextDecoder().decode(bodyStart.subarray(0, KEPT_BYTES), { stream: !isWhole });
  return shorten(text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, '\ufffd'));
}

/** A replacement takes three bytes where one stood. */
function shorten(text: string): string {
  if (text.length * 3 <= KEPT_BYTES) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES)).read);
}
