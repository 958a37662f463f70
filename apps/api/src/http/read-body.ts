import { ValidationError, type InputProblem } from '@herald/core';
import express, { type Request, type RequestHandler } from 'express';
import { z } from 'zod';
import { HttpFault } from './http-fault.ts';

const KIB = 1_024;
export const BODY_LIMIT_BYTES = 256 * KIB;
export const BATCH_BODY_LIMIT_BYTES = 4 * KIB * KIB;
const DEPTH_LIMIT = 64;

/** Body of an operation that takes none. */
export const NoBody = z.strictObject({});

/** Reads a JSON body of any content up to a size; a body of another type is refused, not ignored. */
export function parseJson(limitBytes: number): RequestHandler[] {
  const refuseOtherTypes: RequestHandler = (req, _res, next) => {
    // `is` is null without a body, and false when it is of another type; a body of no bytes is none.
    if (req.is('application/json') !== false || req.get('content-length') === '0') {
      next();
      return;
    }
    throw new HttpFault('unsupported_media_type', 'send the body as application/json');
  };
  return [refuseOtherTypes, express.json({ limit: limitBytes, type: 'application/json', strict: false })];
}

/** @throws ValidationError with every problem of the body */
export function readBody<Schema extends z.ZodType>(schema: Schema, req: Request): z.infer<Schema> {
  const body: unknown = req.body ?? {};
  if (isDeeperThan(body, DEPTH_LIMIT)) {
    throw new ValidationError([{ path: '', message: `the body is nested deeper than ${DEPTH_LIMIT} levels` }]);
  }
  return readInput(schema, body);
}

/** @throws ValidationError with every problem of the query */
export function readQuery<Schema extends z.ZodType>(schema: Schema, req: Request): z.infer<Schema> {
  return readInput(schema, req.query);
}

function readInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ValidationError(toInputProblems(parsed.error));
}

export function toInputProblems(error: z.ZodError): InputProblem[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
}

function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((item) => isDeeperThan(item, limit - 1));
}
