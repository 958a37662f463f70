import { ValidationError } from '@herald/core';
import type { RequestHandler } from 'express';
import { parse, type ParsedUrlQuery } from 'node:querystring';
import type { Operation } from './operation.ts';

const PROBLEM_LIMIT = 50;
const NAME_LIMIT_CHARACTERS = 64;

/** Reads all of a query; Node's default passes over what comes after the thousandth parameter. */
export function parseQuery(text: string | null): ParsedUrlQuery {
  return parse(text ?? '', '&', '=', { maxKeys: 0 });
}

/**
 * Refuses every parameter that the operation doesn't name, and one that is given twice. What the others hold is for the route
 * to read. What is no operation is left to the answer that says so.
 */
export function createQueryJudge(operations: readonly Operation[]): RequestHandler {
  const known = operations.map(({ method, path, query }) => ({
    method: method.toUpperCase(),
    // Routers pass over case and a slash at the end.
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
    names: new Set(Object.keys(query?.shape ?? {})),
  }));
  return (req, _res, next) => {
    // Nothing to look at, as good as always.
    if (req.originalUrl.includes('?')) {
      const path = req.baseUrl + req.path;
      const method = req.method === 'HEAD' ? 'GET' : req.method;
      const operation = known.find((each) => each.method === method && each.pattern.test(path));
      if (operation) judgeQuery(req.query, operation.names);
    }
    next();
  };
}

/** As of an operation without parameters. */
export const refuseQuery: RequestHandler = (req, _res, next) => {
  judgeQuery(req.query, new Set());
  next();
};

function judgeQuery(query: object, names: ReadonlySet<string>): void {
  const takes = names.size === 0 ? 'it takes none' : `it takes ${[...names].join(', ')}`;
  const problems = Object.entries(query).flatMap(([name, value]) => {
    const path = name.slice(0, NAME_LIMIT_CHARACTERS);
    if (!names.has(name)) return [{ path, message: `is no parameter of this operation; ${takes}` }];
    return Array.isArray(value) ? [{ path, message: 'must be given once' }] : [];
  });
  if (problems.length > 0) throw new ValidationError(problems.slice(0, PROBLEM_LIMIT));
}
