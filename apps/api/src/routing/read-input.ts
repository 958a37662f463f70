import { ValidationError, type InputProblem } from '@herald/core';
import type { Request } from 'express';
import type { z } from 'zod';
import { judgeJson } from './judge-json.ts';

/** How many problems an answer lists. A small body can have very many, and its answer must stay small. */
const PROBLEM_LIMIT = 50;
const MESSAGE_LIMIT_CHARACTERS = 300;

/**
 * @param itemsLater the schema leaves the items of the body unread, and the caller gives each to `readInput`
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
