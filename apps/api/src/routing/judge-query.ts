import { ValidationError } from '@herald/core';
import type { RequestHandler } from 'express';
import { parse, type ParsedUrlQuery } from 'node:querystring';
import { z } from 'zod';
import { createFindOperation } from './find-operation.ts';
import type { Operation, RouteTable } from './operation.ts';
import { describeUnknownName, toShownName } from './unknown-name.ts';

const PROBLEM_LIMIT = 50;

/** Reads every parameter of a query. By default Node ignores those after the thousandth. */
export function parseQuery(text: string | null): ParsedUrlQuery {
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}

/**
 * Refuses query parameters that the operation does not name, and those given twice. The route reads the values.
 * A request for no operation passes: the router answers it. Mount it at the path of the table.
 */
export function createQueryJudge<Deps>({ operations }: RouteTable<Deps>): RequestHandler {
  const findOperation = createFindOperation(operations);
  return (req, _res, next) => {
    // Nearly no request has a query.
    if (req.originalUrl.includes('?')) {
      const operation = findOperation(req);
      if (operation) judgeQuery(req.query, namesIn(operation));
    }
    next();
  };
}

function namesIn({ query }: Pick<Operation<never>, 'query'>): ReadonlySet<string> {
  return new Set(query instanceof z.ZodObject ? Object.keys(query.shape) : []);
}

/** Refuses every query parameter. */
export const refuseQuery: RequestHandler = (req, _res, next) => {
  judgeQuery(req.query, new Set());
  next();
};

function judgeQuery(query: object, names: ReadonlySet<string>): void {
  const known = [...names];
  const wrong = Object.entries(query).filter(([name, value]) => !names.has(name) || Array.isArray(value));
  if (wrong.length === 0) return;
  const problems = wrong.slice(0, PROBLEM_LIMIT).map(([name]) => ({
    path: toShownName(name),
    message: names.has(name)
      ? 'must be given once'
      : describeUnknownName(name, known, 'is not a parameter of this operation'),
  }));
  throw new ValidationError(problems);
}
