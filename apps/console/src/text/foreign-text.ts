/** A piece of text. `isMark`: it stands for characters that can't be seen, or that change how others are seen. */
export type TextPiece = { readonly text: string; readonly isMark: boolean };

/** Controls, reordering, broken halves, and what has no shape. Line breaks and tabs of several lines are no harm. */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Co}`;
const IN_LINES = new RegExp(`(?:(?![\\n\\t])[${UNSEEN}])+`, 'gu');
const IN_ONE_LINE = new RegExp(`[${UNSEEN}]+`, 'gu');

/** A longer run of marks is told by its length. */
const SHOWN_MARKS = 8;

/** Cuts text of others into pieces that are safe to show: what can't be seen becomes an escape. */
export function markInvisible(foreign: string, hasLines: boolean): TextPiece[] {
  // CR LF ends the lines of many servers.
  const text = hasLines ? foreign.replaceAll('\r\n', '\n') : foreign;
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(hasLines ? IN_LINES : IN_ONE_LINE)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), isMark: false });
    pieces.push({ text: escapeRun(match[0]), isMark: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isMark: false });
  return pieces;
}

/** `\u{202e}`, or the first of many and how many follow. */
function escapeRun(run: string): string {
  const characters = Array.from(run);
  const shown = characters.slice(0, SHOWN_MARKS).map(escapeCharacter).join('');
  return characters.length > SHOWN_MARKS ? `${shown}… +${characters.length - SHOWN_MARKS}` : shown;
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e', '\0': '\\0' };

function escapeCharacter(character: string): string {
  return SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Host and path of a url as it is written; everything is host when it is none. */
export function cutUrl(url: string): { readonly host: string; readonly path: string } {
  const [, host = url, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  return { host, path };
}
