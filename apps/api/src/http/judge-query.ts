import { toPointer, ValidationError } from '@herald/core';
import type { RequestHandler } from 'express';
import { parse, type ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { describeUnknownName, toShownName } from './read-input.ts';

const PROBLEM_LIMIT = 50;

/** Reads every parameter of a query. By default Node ignores those after the thousandth. */
export function parseQuery(text: string | null): ParsedUrlQuery {
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}

/** Refuses every query parameter. */
export const refuseQuery: RequestHandler = (req, _res, next) => {
  judgeQuery(req.query);
  next();
};

/**
 * Refuses query parameters that the schema doesn't name, and those given twice. The route reads the values.
 * @param schema absent: there are no parameters
 */
export function judgeQuery(query: object, schema?: z.ZodType): void {
  const names = new Set(schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
  const known = [...names];
  const wrong = Object.entries(query).filter(([name, value]) => !names.has(name) || Array.isArray(value));
  if (wrong.length === 0) return;
  const problems = wrong.slice(0, PROBLEM_LIMIT).map(([name]) => ({
    path: toShownName(name),
    message: names.has(name)
      ? 'must be given once'
      : describeUnknownName(name, known, 'is not a parameter of this operation'),
    code: names.has(name) ? ('invalid' as const) : ('unknown' as const),
    pointer: toPointer([toShownName(name)]),
  }));
  throw new ValidationError(problems);
}
