import { ValidationError, type InputProblem } from '@herald/core';
import type { z } from 'zod';
import { judgeJson } from './judge-json.ts';

/** How many problems an answer lists. A small body can have very many, and its answer must stay small. */
const PROBLEM_LIMIT = 50;
const MESSAGE_LIMIT_CHARACTERS = 300;

/** Reads a JSON value. @throws ValidationError with its problems */
export function readInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const problem = judgeJson(value);
  if (problem) throw new ValidationError([problem]);
  return readFields(schema, value);
}

/** Reads a query, or a JSON value whose parts `readInput` will read. @throws ValidationError with its problems */
export function readFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
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
