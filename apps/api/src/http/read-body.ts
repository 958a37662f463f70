import { ValidationError, type InputProblem } from '@herald/core';
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { HttpFault } from './http-fault.ts';
import { judgeJson } from './judge-json.ts';

const KIB = 1_024;
export const BODY_LIMIT_BYTES = 256 * KIB;
export const BATCH_BODY_LIMIT_BYTES = 4 * KIB * KIB;
/** Problems that an answer lists: a small body can have a great many, and the answer must not be larger than what was asked. */
const PROBLEM_LIMIT = 50;
const MESSAGE_LIMIT_CHARACTERS = 300;

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Body of an operation that takes none. */
export const NoBody = z.strictObject({});

/**
 * Reads a JSON body of any content up to a size; a body of another type is refused, not ignored, and so is a compressed one:
 * a few bytes of it could stand for any number.
 */
export function parseJson(limitBytes: number): RequestHandler[] {
  const refuseOtherForms: RequestHandler = (req, _res, next) => {
    // `is` is null without a body, and false when it is of another type; a body of no bytes is none.
    if (req.is('application/json') === false && req.get('content-length') !== '0') {
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
  const verify = (_req: unknown, _res: unknown, body: Buffer) => {
    // The parser would put U+FFFD in the place of what it can't read, and take bodies that differ for the same.
    if (!isUtf8(body)) throw notUtf8();
  };
  const options = { limit: limitBytes, type: 'application/json', strict: false, inflate: false, verify };
  return [refuseOtherForms, express.json(options), refuseLostBody];
}

/**
 * The parser passes over a request whose connection is gone by the time it looks. That would be run as if it had come without a
 * body, and its repetition be another request.
 */
const refuseLostBody: RequestHandler = (req, _res, next) => {
  const hasBody = req.get('transfer-encoding') !== undefined || Number(req.get('content-length') ?? 0) > 0;
  if (hasBody && req.body === undefined) {
    throw cutOffBody();
  }
  next();
};

/** The caller hung up in the middle of the body. */
export function cutOffBody(): HttpFault {
  return new HttpFault('invalid_json', 'the body ended before it was complete');
}

/** RFC 8259 section 8.1: JSON between systems is UTF-8. */
function notUtf8(): HttpFault {
  return new HttpFault('unsupported_media_type', 'send the body in UTF-8');
}

/**
 * @param itemsLater the schema leaves the body's items unread; each is given to `readInput` by itself
 * @throws ValidationError with the problems of the body
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  req: Request,
  { itemsLater = false } = {},
): z.infer<Schema> {
  const body: unknown = req.body === undefined ? {} : req.body;
  return itemsLater ? parse(schema, body) : readInput(schema, body);
}

/** @throws ValidationError with the problems of the query */
export function readQuery<Schema extends z.ZodType>(schema: Schema, req: Request): z.infer<Schema> {
  return parse(schema, req.query);
}

/** @throws ValidationError with the problems of the value */
export function readInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const problem = judgeJson(value);
  if (problem) throw new ValidationError([problem]);
  return parse(schema, value);
}

function parse<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ValidationError(toInputProblems(parsed.error));
}

function toInputProblems({ issues }: z.ZodError): InputProblem[] {
  const problems = issues.slice(0, PROBLEM_LIMIT).map(({ path, message }) => ({
    path: path.map(String).join('.'),
    message: message.slice(0, MESSAGE_LIMIT_CHARACTERS),
  }));
  const more = issues.length - problems.length;
  return more > 0 ? [...problems, { path: '', message: `and ${more} problems more` }] : problems;
}
