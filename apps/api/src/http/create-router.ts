import { ID_PATTERNS, NotFoundError } from '@herald/core';
import { Router, type RequestHandler } from 'express';
import { refuseIfMatch } from './headers.ts';
import { HttpFault } from './problem.ts';
import { admit, atRoute, stateOf } from './request-state.ts';
import type { Audit } from './create-audit.ts';
import { judgeQuery, readFields, readInput } from './read-input.ts';
import { SENT, type Operation, type RouteTable } from './operation.ts';

/** What a request passes before its operation runs. Each step is made for the operation that the route runs. */
export type Steps = {
  /** Refuses a caller who may not use the operation. To let a request pass it calls `admit`. */
  readonly judge: (operation: Operation<never>, table: RouteTable<never>) => RequestHandler;
  /** Limits of what the caller may ask for. They come before the body is read. */
  readonly limits?: readonly RequestHandler[];
  /** The handlers that read the body. */
  readonly parse?: (operation: Operation<never>) => readonly RequestHandler[];
  readonly audit?: Audit;
};

/**
 * Builds the router of a table. A request is judged, limited and read by the steps of the route that matched, so that
 * nothing has to find out by other means which operation it is for.
 */
export function createRouter<Deps>(table: RouteTable<Deps>, deps: Deps, steps: Steps): Router {
  const router = Router();
  for (const [path, some] of Map.groupBy(table.operations, (each) => each.path)) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const enter = atRoute(`${table.path}${pattern}`, `${table.path}${path}`);
    const route = router.route(pattern);
    for (const each of some) {
      route[each.method](
        enter,
        steps.judge(each, table),
        ...(steps.limits ?? []),
        ...(table.ignoresQuery ? [] : [createQueryJudge(each)]),
        createIdJudge(table),
        ...(steps.parse?.(each) ?? []),
        toHandler(each, table, deps, steps.audit),
      );
    }
    const methods = some.map(({ method }) => method.toUpperCase());
    if (table.access === 'public') {
      methods.push('OPTIONS');
      route.all(enter, answerOptions(methods));
    }
    route.all(enter, refuseOtherMethods(...methods));
  }
  return router;
}

/** For what everybody may use. */
export const admitEverybody: Steps['judge'] = (operation) => (req, _res, next) => {
  admit(req, operation);
  next();
};

function createQueryJudge({ query }: Pick<Operation<never>, 'query'>): RequestHandler {
  return (req, _res, next) => {
    // Nearly no request has a query.
    if (req.originalUrl.includes('?')) judgeQuery(req.query, query);
    next();
  };
}

function createIdJudge({ ids }: Pick<RouteTable<never>, 'ids'>): RequestHandler {
  return (req, _res, next) => {
    for (const [name, id] of Object.entries(req.params)) {
      const thing = ids[name];
      if (thing === undefined) throw new Error(`the table says nothing of {${name}}`);
      // No such thing can exist. The id is not repeated: it may be a key in the wrong place.
      if (typeof id !== 'string' || !ID_PATTERNS[thing].test(id)) throw new NotFoundError(thing, 'of this id');
    }
    next();
  };
}

function toHandler<Deps>(
  operation: Operation<Deps>,
  { ids }: RouteTable<Deps>,
  deps: Deps,
  audit: Audit | undefined,
): RequestHandler {
  const { id: action, method, query, body, batch, answer, obeysIfMatch, audit: audited = 'none' } = operation;
  if (audited !== 'none' && !audit) throw new Error(`nobody would write down who used ${action}`);
  const readBody = batch ? readFields : readInput;
  return async (req, res) => {
    if (stateOf(req).admittedTo !== operation) throw new Error(`nobody has judged who may use ${action}`);
    if (method !== 'get' && !obeysIfMatch) refuseIfMatch(req);
    const input = query ? readFields(query, req.query) : body && readBody(body, req.body === undefined ? {} : req.body);
    const answered = await operation.handle(deps, req, res.status(answer.status), input);
    if (answered === SENT) {
      if (audited !== 'none') throw new Error(`${action} has answered before its change was written down`);
      return;
    }
    if (audited !== 'none') {
      const inPath = req.params.id ?? Object.values(req.params).at(-1);
      const target = audited === 'path' ? inPath : (answered as { readonly id?: unknown }).id;
      const workspaceId = ids.id === 'workspace' ? req.params.id : req.params.workspaceId;
      await audit?.({
        action,
        ...(typeof target === 'string' && { target }),
        ...(method === 'patch' && { fields: Object.keys(input as object) }),
        ...(typeof workspaceId === 'string' && { workspaceId }),
        ...stateOf(req).auditFacts,
      });
    }
    res.json(answered);
  };
}

/** Ends everything below a path. */
export function refuseUnknownPath(): never {
  throw new HttpFault('route_not_found', 'there is nothing at this path');
}

/** Refuses paths with an empty segment: some programs on the way take `//` for `/`, and others don't. */
export const refuseDoubledSlashes: RequestHandler = (req, _res, next) => {
  if (req.path.includes('//')) refuseUnknownPath();
  next();
};

/** A plain health check of haproxy is `OPTIONS /`, and one that is refused takes the whole service out. */
function answerOptions(methods: readonly string[]): RequestHandler {
  return (req, res, next) => {
    if (req.method === 'OPTIONS') res.status(204).set('allow', toAllow(methods)).end();
    else next();
  };
}

/** Whatever answers GET answers HEAD. */
function toAllow(methods: readonly string[]): string {
  return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
}

/** Ends a route: answers every other method with the allowed ones. */
export function refuseOtherMethods(...allowed: readonly string[]): RequestHandler {
  const allow = toAllow(allowed);
  return (req) => {
    throw new HttpFault('method_not_allowed', `${req.method} is not allowed here; use ${allow}`, { allow });
  };
}
