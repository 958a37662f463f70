/** How much of a body is kept. */
export const KEPT_BYTES = 1_024;

/**
 * Controls but tab and newline; then all that is not seen, or hides, reorders or breaks what is: format characters and
 * whatever else a font may ignore, line separators, noncharacters. Joiners and variation selectors make letters and emoji.
 */
const UNSAFE =
  /(?!\t|\n|\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Look-alikes, which no normalisation turns back into markup. */
const INERT: Readonly<Record<string, string>> = { '<': '\u2039', '>': '\u203a' };

/**
 * The beginning of an answer's body as text that is safe to show in a terminal, a log or a page, also one that forgets to
 * escape: at most 1 KiB of UTF-8, cut between characters; what is no UTF-8 or could disguise the rest becomes U+FFFD, and
 * the angle brackets of markup become `‹` and `›`.
 */
export function readAnswerText(bodyStart: Uint8Array): string {
  const isWhole = bodyStart.length <= KEPT_BYTES;
  // A decoder that expects more leaves out the character that the cut went through.
  const text = new TextDecoder().decode(bodyStart.subarray(0, KEPT_BYTES), { stream: !isWhole });
  const harmless = text.replaceAll('\r\n', '\n').replaceAll(UNSAFE, '\ufffd');
  return shorten(harmless.replaceAll(/[<>]/g, (bracket) => INERT[bracket] ?? '\ufffd'));
}

/** A replacement takes three bytes where one stood. */
function shorten(text: string): string {
  if (text.length * 3 <= KEPT_BYTES) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(KEPT_BYTES)).read);
}
