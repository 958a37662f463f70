import { ValidationError, type InputProblem } from '@herald/core';
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { findLossyNumbers, type JsonPath } from './find-lossy-numbers.ts';
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
    if (Buffer.isBuffer(body)) req.body = parseBytes(req, body, itemsField);
    next();
  };
  const readBytes = express.raw({ limit: limitBytes, type: 'application/json', inflate: false });
  return [refuseOtherForms, readBytes, parseBody];
}

const refuseOtherForms: RequestHandler = (req, _res, next) => {
  // Many clients send a content type with a GET that has no body.
  if (!hasBody(req)) {
    next();
    return;
  }
  if (req.is('application/json') === false) {
    throw new HttpFault('unsupported_media_type', 'send the body as application/json');
  }
  const charset = CHARSET.exec(req.get('content-type') ?? '')?.[1] ?? '';
  if (!UTF_8.includes(charset.toLowerCase())) throw notUtf8();
  if ((req.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    const detail = 'send the body as it is, without content-encoding';
    throw new HttpFault('unsupported_media_type', detail, { 'accept-encoding': 'identity' });
  }
  next();
};

/** A body of no bytes counts as none. */
function hasBody(req: Request): boolean {
  return req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0;
}

function parseBytes(req: Request, bytes: Buffer, itemsField: string | undefined): unknown {
  if (bytes.length === 0) return {};
  // Decoding would replace invalid bytes with U+FFFD, and different bodies would look the same.
  if (!isUtf8(bytes)) throw notUtf8();
  const read = bytes.toString();
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read;
  const body = parseText(text);
  const problems = judgeNumbers(text, itemsField);
  if (problems.size > 0) stateOf(req).lossyBatch = { text, problems };
  return body;
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
