import { ID_PATTERNS, NotFoundError } from '@herald/core';
import { Router, type RequestHandler } from 'express';
import { HttpFault } from '../http/problem.ts';
import type { Operation, RouteTable } from './operation.ts';
import { readFields, readInput } from './read-input.ts';

/**
 * Builds the router of a table.
 * @param parse the handlers that read the body of an operation, if it is not read before the router
 */
export function createRouter<Deps>(
  { ids, operations }: RouteTable<Deps>,
  deps: Deps,
  parse: (operation: Operation<Deps>) => readonly RequestHandler[] = () => [],
): Router {
  const router = Router();
  for (const [param, thing] of Object.entries(ids)) {
    router.param(param, (_req, _res, next, id: string) => {
      // No such thing can exist. The id is not repeated: it may be a key in the wrong place.
      if (!ID_PATTERNS[thing].test(id)) throw new NotFoundError(thing, 'of this id');
      next();
    });
  }
  for (const [path, some] of Map.groupBy(operations, ({ path }) => path)) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const each of some) route[each.method](...parse(each), toHandler(each, deps));
    route.all(refuseOtherMethods(...some.map(({ method }) => method.toUpperCase())));
  }
  return router;
}

function toHandler<Deps>(operation: Operation<Deps>, deps: Deps): RequestHandler {
  const { query, body, batch, answer } = operation;
  const readBody = batch ? readFields : readInput;
  return (req, res) => {
    const input = query ? readFields(query, req.query) : body && readBody(body, req.body === undefined ? {} : req.body);
    return operation.handle(deps, req, res.status(answer.status), input);
  };
}

/** Ends everything below a path. */
export function refuseUnknownPath(): never {
  throw new HttpFault('route_not_found', 'there is nothing at this path');
}

/** Ends a route: answers every other method with the allowed ones. */
export function refuseOtherMethods(...allowed: readonly string[]): RequestHandler {
  const allow = allowed.join(', ');
  return (req) => {
    throw new HttpFault('method_not_allowed', `${req.method} is not allowed here; use ${allow}`, { allow });
  };
}
