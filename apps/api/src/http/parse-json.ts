import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ValidationError, type InputProblem } from '@herald/core';
import express, { type Request, type RequestHandler } from 'express';
import { HttpFault } from './problem.ts';
import { stateOf } from './request-state.ts';

const KIB = 1_024;
export const BODY_LIMIT_BYTES = 256 * KIB;
export const BATCH_BODY_LIMIT_BYTES = 4 * KIB * KIB;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;
/** No charset is UTF-8, and some libraries leave out the hyphen (WHATWG Encoding has both). */
const UTF_8 = ['', 'utf-8', 'utf8'];
const BYTE_ORDER_MARK = '\ufeff';

const LOSSY = 'would read back as another number; send it as a string';
/** How many lossy numbers an answer lists, and how much of each path. The answer must be smaller than the request. */
const LISTED_NUMBERS = 10;
const PATH_LIMIT_CHARACTERS = 300;
/** Levels of a body that is parsed. Where a field may have any JSON, each operation judges how deep; see `judgeJson`. */
const PARSED_LEVELS = 1_000;
/** The level of a batch's items: in a list, in a field of the body. */
const ITEM_LEVEL = 2;

/**
 * Reads a JSON body up to a size. It refuses a body of another type, a compressed one, because a few bytes of it could
 * stand for any number of bytes, and one with a number that would read back as another.
 * @param itemsField the field of a batch whose items are judged one by one; `lossyBatch` in `stateOf` has their numbers
 */
export function parseJson(limitBytes: number, itemsField?: string): RequestHandler[] {
  const parseBody: RequestHandler = (req, _res, next) => {
    const body: unknown = req.body;
    // The reader skips a request whose connection is gone. Without this, it would run as if it had no body.
    if (body === undefined && hasBody(req)) throw cutOffBody();
    if (Buffer.isBuffer(body)) {
      if (body.length > 0) refuseOtherTypes(req);
      req.body = parseBytes(req, body, itemsField);
    }
    next();
  };
  const readBytes = express.raw({ limit: limitBytes, type: hasBody, inflate: false });
  return [refuseUnread, readBytes, parseBody];
}

/** A body of no bytes counts as none. Of one in chunks only its end tells: its type is judged when it is read. */
const refuseUnread: RequestHandler = (req, _res, next) => {
  // Many clients send a content type with a GET that has no body.
  if (!hasBody(req)) {
    next();
    return;
  }
  if ((req.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    const detail = 'send the body as it is, without content-encoding';
    throw new HttpFault('unsupported_media_type', detail, { 'accept-encoding': 'identity' });
  }
  if (!isChunked(req)) refuseOtherTypes(req);
  next();
};

function refuseOtherTypes(req: Request): void {
  if (req.is('application/json') === false) {
    throw new HttpFault('unsupported_media_type', 'send the body as application/json');
  }
  const charset = CHARSET.exec(req.get('content-type') ?? '')?.[1] ?? '';
  if (!UTF_8.includes(charset.toLowerCase())) throw notUtf8();
}

function hasBody(req: IncomingMessage): boolean {
  return isChunked(req) || Number(req.headers['content-length'] ?? 0) > 0;
}

function isChunked(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined;
}

function parseBytes(req: Request, bytes: Buffer, itemsField: string | undefined): unknown {
  if (bytes.length === 0) return {};
  // Decoding would replace invalid bytes with U+FFFD, and different bodies would look the same.
  if (!isUtf8(bytes)) throw notUtf8();
  if (levelsOf(bytes) > PARSED_LEVELS) {
    throw new ValidationError([{ path: '', message: `is nested deeper than ${PARSED_LEVELS} levels; flatten it` }]);
  }
  const read = bytes.toString();
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read;
  const body = parseText(text);
  const problems = judgeNumbers(text, itemsField);
  if (problems.size > 0) stateOf(req).lossyBatch = { text, problems };
  return body;
}

const [QUOTE, BACKSLASH, BRACKET, BRACE, END_OF_BRACKET, END_OF_BRACE] = Buffer.from('"\\[{]}');

/**
 * How deep lists and objects of a JSON text are nested; 0 of a short one, which can't be nested too deep. Parsing a
 * million levels takes seconds, and keeps everybody waiting; counting them takes some 3 ns a byte.
 */
export function levelsOf(json: Buffer): number {
  if (json.length <= PARSED_LEVELS) return 0;
  let [level, deepest] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === BRACKET || byte === BRACE) {
      level++;
      if (level > deepest) deepest = level;
    } else if (byte === END_OF_BRACKET || byte === END_OF_BRACE) level--;
  }
  return deepest;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The position alone: the parser's own message quotes the body.
    const place = / at position \d+/.exec(String(error))?.[0] ?? '';
    throw new HttpFault('invalid_json', `the body is not valid JSON${place}`);
  }
}

/** Returns the problems within items. @throws ValidationError with the problems elsewhere */
function judgeNumbers(text: string, itemsField: string | undefined): Map<number, InputProblem> {
  const ofItems = new Map<number, InputProblem>();
  const ofBody: InputProblem[] = [];
  for (const path of findLossyNumbers(text, itemsField === undefined ? Infinity : ITEM_LEVEL)) {
    const [field, index, ...within] = path;
    if (itemsField !== undefined && field === itemsField && typeof index === 'number') {
      ofItems.set(index, toProblem(within));
    } else {
      ofBody.push(toProblem(path));
      if (ofBody.length === LISTED_NUMBERS) break;
    }
  }
  if (ofBody.length > 0) throw new ValidationError(ofBody);
  return ofItems;
}

function toProblem(path: JsonPath): InputProblem {
  return { path: path.join('.').slice(0, PATH_LIMIT_CHARACTERS), message: LOSSY };
}

export function cutOffBody(): HttpFault {
  return new HttpFault('invalid_json', 'the body ended before it was complete');
}

/** RFC 8259 section 8.1: JSON between systems is UTF-8. */
function notUtf8(): HttpFault {
  return new HttpFault('unsupported_media_type', 'send the body in UTF-8');
}

/** A double keeps this many digits of any number that is neither huge nor tiny. */
const ALWAYS_KEPT_DIGITS = 15;
/** Below about 2e-308 a double keeps fewer. */
const SURELY_NOT_TINY = 1e-300;
/** The limit of `toPrecision`. No program writes a double with more digits. */
const MOST_DIGITS = 100;

/** Digits without leading and trailing zeros, and the power of ten of the last one. */
type Decimal = { readonly digits: string; readonly exponent: number };

/**
 * Whether a JSON number reads back as another one, because a double cannot hold it. A whole number must keep its value.
 * One with a point or an exponent may also be a double with more digits than necessary, such as 0.10000000000000001 for
 * 0.1. Then each digit must be one of the double.
 */
export function isLossyNumber(literal: string): boolean {
  const value = Number(literal);
  const isOfUsualSize = Number.isFinite(value) && Math.abs(value) > SURELY_NOT_TINY;
  if (literal.length <= ALWAYS_KEPT_DIGITS && isOfUsualSize) return false;
  const sent = toDecimal(literal);
  if (sent.digits === '') return false;
  if (sent.digits.length > MOST_DIGITS || value === 0 || !Number.isFinite(value)) return true;
  if (isSame(sent, toDecimal(String(value)))) return false;
  const isWhole = !/[.e]/i.test(literal);
  return isWhole || !isSame(sent, toDecimal(value.toPrecision(sent.digits.length)));
}

function toDecimal(literal: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? [];
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  // A regular expression for the trailing zeros would backtrack at each zero before them.
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return { digits: digits.slice(start, end), exponent: Number(exponent) - fraction.length + digits.length - end };
}

function isSame(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && one.exponent === other.exponent;
}

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
