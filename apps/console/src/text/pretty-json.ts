/** A piece of JSON. Punctuation and blanks are `plain`. */
export type JsonPiece = { readonly text: string; readonly kind: 'key' | 'string' | 'number' | 'word' | 'plain' };

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g;

/** JSON with line breaks and indentation; undefined when the text is none. */
export function prettyJson(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}

/** Cuts JSON into pieces, to colour them. */
export function cutJson(json: string): JsonPiece[] {
  const pieces: JsonPiece[] = [];
  let end = 0;
  for (const match of json.matchAll(TOKEN)) {
    const [whole, string, colon, number] = match;
    if (match.index > end) pieces.push({ text: json.slice(end, match.index), kind: 'plain' });
    if (string !== undefined) {
      pieces.push({ text: string, kind: colon === undefined ? 'string' : 'key' });
      if (colon !== undefined) pieces.push({ text: colon, kind: 'plain' });
    } else pieces.push({ text: whole, kind: number === undefined ? 'word' : 'number' });
    end = match.index + whole.length;
  }
  if (end < json.length) pieces.push({ text: json.slice(end), kind: 'plain' });
  return pieces;
}
