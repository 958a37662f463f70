import { ValidationError, type InputProblem } from '@herald/core';
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { findLossyNumbers, type JsonPath } from './find-lossy-numbers.ts';
import { HttpFault } from './problem.ts';

const KIB = 1_024;
export const BODY_LIMIT_BYTES = 256 * KIB;
export const BATCH_BODY_LIMIT_BYTES = 4 * KIB * KIB;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;
const BYTE_ORDER_MARK = '\ufeff';

/** What is wrong with a number that a double can't hold. */
const LOSSY = 'would read back as another number; send it as a string';
/** Such numbers that an answer lists, and how much of the path to each: the answer must not be larger than what was asked. */
const LISTED_NUMBERS = 10;
const PATH_LIMIT_CHARACTERS = 300;
/** Items of a batch lie in a list in a field of the body. */
const ITEM_LEVEL = 2;

/** A body some of whose items have such numbers. */
export type LossyBatch = {
  /** The body as it came. */
  readonly text: string;
  /** By the item's index, the first such number in it. */
  readonly problems: ReadonlyMap<number, InputProblem>;
};

const lossyBatches = new WeakMap<Request, LossyBatch>();

/** What the items of the request's body have lost; undefined when it is nothing, as nearly always. */
export function lossyBatchOf(req: Request): LossyBatch | undefined {
  return lossyBatches.get(req);
}

/**
 * Reads a JSON body of any content up to a size; a body of another type is refused, not ignored, and so is a compressed one:
 * a few bytes of it could stand for any number. A number that would read back as another is refused too.
 * @param itemsField the field of a batch whose items are judged one by one: their numbers are told by `lossyBatchOf`
 */
export function parseJson(limitBytes: number, itemsField?: string): RequestHandler[] {
  const parseBody: RequestHandler = (req, _res, next) => {
    const body: unknown = req.body;
    if (Buffer.isBuffer(body)) req.body = parseBytes(req, body, itemsField);
    next();
  };
  const readBytes = express.raw({ limit: limitBytes, type: 'application/json', inflate: false });
  return [refuseOtherForms, readBytes, refuseLostBody, parseBody];
}

const refuseOtherForms: RequestHandler = (req, _res, next) => {
  // Headers may describe a body that is not there, as many clients' do with a GET.
  if (!hasBody(req)) {
    next();
    return;
  }
  if (req.is('application/json') === false) {
    throw new HttpFault('unsupported_media_type', 'send the body as application/json');
  }
  const charset = CHARSET.exec(req.get('content-type') ?? '')?.[1] ?? '';
  if (!['', 'utf-8'].includes(charset.toLowerCase())) throw notUtf8();
  if ((req.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    const detail = 'send the body as it is, without content-encoding';
    throw new HttpFault('unsupported_media_type', detail, { 'accept-encoding': 'identity' });
  }
  next();
};

/**
 * The reader passes over a request whose connection is gone by the time it looks. That would be run as if it had come without a
 * body, and its repetition be another request.
 */
const refuseLostBody: RequestHandler = (req, _res, next) => {
  if (hasBody(req) && req.body === undefined) {
    throw cutOffBody();
  }
  next();
};

/** A body of no bytes is none. */
function hasBody(req: Request): boolean {
  return req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0;
}

function parseBytes(req: Request, bytes: Buffer, itemsField: string | undefined): unknown {
  if (bytes.length === 0) return {};
  // Decoding would put U+FFFD in the place of what it can't read, and bodies that differ would be the same.
  if (!isUtf8(bytes)) throw notUtf8();
  const read = bytes.toString();
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read;
  const body = parseText(text);
  const problems = judgeNumbers(text, itemsField);
  if (problems.size > 0) lossyBatches.set(req, { text, problems });
  return body;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Where, and not what: the parser's own message quotes the body.
    const place = / at position \d+/.exec(String(error))?.[0] ?? '';
    throw new HttpFault('invalid_json', `the body is not valid JSON${place}`);
  }
}

/**
 * @returns the problems within items
 * @throws ValidationError with those elsewhere
 */
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

/** The caller hung up in the middle of the body. */
export function cutOffBody(): HttpFault {
  return new HttpFault('invalid_json', 'the body ended before it was complete');
}

/** RFC 8259 section 8.1: JSON between systems is UTF-8. */
function notUtf8(): HttpFault {
  return new HttpFault('unsupported_media_type', 'send the body in UTF-8');
}
