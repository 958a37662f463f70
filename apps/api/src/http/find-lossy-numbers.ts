import { isLossyNumber } from './is-lossy-number.ts';

/**
 * Finds a number that a double may not hold: it has an exponent or 16 digits. Most bodies have none and cost only this
 * check. Text within a string may match too; the full pass below skips it. No schema takes a body that is one number.
 */
const SUSPECT = /[^"\w]-?\d(?:[\d.]{15}|[\d.]{0,15}[eE])/;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Levels that a path names. Deeper values are refused anyway. */
const NAMED_LEVELS = 66;
const KEY_LIMIT_CHARACTERS = 64;

/** Names of fields and indexes of lists, outermost first. */
export type JsonPath = readonly (string | number)[];

/**
 * Yields the paths of the numbers in a JSON text that would read back as others, in one pass.
 * @param text valid JSON
 * @param itemLevel of each value at this level, only the first such number is reported
 */
export function* findLossyNumbers(text: string, itemLevel = Infinity): Generator<JsonPath> {
  if (!SUSPECT.test(text)) return;
  /** The current index in each open list; -1 for an open object. */
  const indexes: number[] = [];
  /** Where the latest name of each open object starts. */
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

/** The position of the quote that ends the string. */
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
