import { isLossyNumber } from './is-lossy-number.ts';

/**
 * Where a number may begin that a double can't hold: it has an exponent, or 16 digits. Most bodies have none, and this look is all
 * that they cost. A text within a string may look the same; the closer look tells. A body that is nothing but a number has no schema.
 */
const SUSPECT = /[^"\w]-?\d(?:[\d.]{15}|[\d.]{0,15}[eE])/;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Levels that a path names. What is nested deeper is refused anyway. */
const NAMED_LEVELS = 66;
const KEY_LIMIT_CHARACTERS = 64;

/** Names of fields and indexes of lists, from the outside. */
export type JsonPath = readonly (string | number)[];

/**
 * The paths of the numbers in a JSON text that would read back as others. One pass over the text, whatever it is.
 * @param text what a parser has found to be JSON
 * @param itemLevel of a value that is nested so deep only the first such number is told
 */
export function* findLossyNumbers(text: string, itemLevel = Infinity): Generator<JsonPath> {
  if (!SUSPECT.test(text)) return;
  /** Of every open list where we are in it, of every open object -1. */
  const indexes: number[] = [];
  /** Of every open object where its latest name begins. */
  const names: number[] = [];
  let string = 0;
  let isItemTold = false;
  for (let at = 0; at < text.length; at++) {
    const level = indexes.length;
    switch (text.charAt(at)) {
      case '"':
        string = at;
        at = endOfString(text, at);
        break;
      case ':':
        names[level - 1] = string;
        break;
      case ',': {
        const index = indexes[level - 1] ?? -1;
        if (index !== -1) indexes[level - 1] = index + 1;
        if (level <= itemLevel) isItemTold = false;
        break;
      }
      case '{':
      case '[':
        indexes.push(text[at] === '[' ? 0 : -1);
        names.push(-1);
        break;
      case '}':
      case ']':
        indexes.pop();
        names.pop();
        if (level <= itemLevel) isItemTold = false;
        break;
      default: {
        NUMBER.lastIndex = at;
        const literal = NUMBER.exec(text)?.[0];
        // White space, or a letter of true, false and null.
        if (literal === undefined) break;
        at += literal.length - 1;
        if (isItemTold || !isLossyNumber(literal)) break;
        isItemTold = level >= itemLevel;
        yield indexes.slice(0, NAMED_LEVELS).map((index, n) => (index === -1 ? readName(text, names[n] ?? 0) : index));
      }
    }
  }
}

/** Where the quote is that ends the string that begins here. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function readName(text: string, start: number): string {
  const end = endOfString(text, start);
  if (end - start > KEY_LIMIT_CHARACTERS) return text.slice(start + 1, start + 1 + KEY_LIMIT_CHARACTERS);
  return String(JSON.parse(text.slice(start, end + 1)));
}
