import { toPointer, ValidationError, type InputProblem, type InputProblemCode } from '@herald/core';
import type { z } from 'zod';
import { judgeJson } from './judge-json.ts';
import { ruleOf } from './rule-of.ts';
import { describeUnknownName, toShownName } from './unknown-name.ts';

/** How many problems an answer lists. A small body can have very many, and its answer must stay small. */
const PROBLEM_LIMIT = 50;
/** How many unknown fields of one object it lists. */
const UNKNOWN_LIMIT = 10;

/**
 * Reads a JSON value.
 * @param whole what the value is called in a sentence about all of it
 * @throws ValidationError with its problems
 */
export function readInput<Schema extends z.ZodType>(schema: Schema, value: unknown, whole?: string): z.infer<Schema> {
  const problem = judgeJson(value);
  if (problem) throw new ValidationError([problem], whole);
  return readFields(schema, value, whole);
}

/** Reads a query, or a JSON value whose parts `readInput` will read. @throws ValidationError with its problems */
export function readFields<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole = 'the body',
): z.infer<Schema> {
  const parsed = schema.safeParse(value, { error: ruleOf });
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const listed = issues.slice(0, PROBLEM_LIMIT).flatMap(toInputProblems).slice(0, PROBLEM_LIMIT);
  const count = issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  const more = count - listed.length;
  throw new ValidationError(more > 0 ? [...listed, { path: '', message: `has ${more} more problems` }] : listed, whole);
}

function toInputProblems(issue: z.core.$ZodIssue): InputProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys')
    return [{ path: path.join('.'), message: issue.message, code: codeOf(issue), pointer: toPointer(path) }];
  const known = issue.message === '' ? [] : issue.message.split(', ');
  return issue.keys.slice(0, UNKNOWN_LIMIT).map((name) => ({
    path: [...path, toShownName(name)].join('.'),
    message: describeUnknownName(name, known, 'is not a field here'),
    code: 'unknown',
    pointer: toPointer([...path, toShownName(name)]),
  }));
}

function codeOf(issue: z.core.$ZodIssue): InputProblemCode {
  if (/^is required\b/.test(issue.message)) return 'required';
  switch (issue.code) {
    case 'invalid_type':
      return 'wrong_type';
    case 'invalid_value':
    case 'invalid_union':
      return 'not_allowed';
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_long' : 'too_large';
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too_short' : 'too_small';
    case 'custom':
      return (issue.params as { readonly code?: InputProblemCode } | undefined)?.code ?? 'invalid';
    case 'invalid_element':
    case 'invalid_format':
    case 'invalid_key':
    case 'not_multiple_of':
    case 'unrecognized_keys':
      return 'invalid';
  }
}
