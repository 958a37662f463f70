/** The part of a body that is kept. */
export const KEPT_BYTES = 1_024;

/**
 * Control characters except tab and newline, and characters that are invisible or hide, reorder or break others: format
 * characters, all that a font may ignore, line separators, noncharacters. Joiners and variation selectors are safe:
 * letters and emoji need them.
 */
const UNSAFE =
  /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Look-alikes that no normalisation turns back into markup. */
const INERT: Readonly<Record<string, string>> = { '<': '\u2039', '>': '\u203a' };

/**
 * The beginning of an answer's body as text that is safe to show in a terminal, a log or a page, even a page that
 * forgets to escape. It is at most 1 KiB of UTF-8, cut between characters. Invalid UTF-8 and unsafe characters become
 * U+FFFD, and angle brackets become `‹` and `›`.
 */
export function readAnswerText(bodyStart: Uint8Array): string {
  const isWhole = bodyStart.length <= KEPT_BYTES;
  // A decoder that expects more omits a character that the cut split.
  const text = new TextDecoder().decode(bodyStart.subarray(0, KEPT_BYTES), { stream: !isWhole });
  const harmless = text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, '\ufffd');
  return shorten(harmless.replaceAll(/[<>]/g, (bracket) => INERT[bracket] ?? '\ufffd'));
}

/** Cuts the text to the limit again: a replacement takes three bytes instead of one. */
function shorten(text: string): string {
  if (text.length * 3 <= KEPT_BYTES) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES)).read);
}
