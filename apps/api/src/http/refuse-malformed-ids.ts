import { ID_PATTERNS, NotFoundError } from '@herald/core';
import type { Router } from 'express';

type Thing = keyof typeof ID_PATTERNS;

/**
 * Makes a router answer a path parameter that can't be an id with 404: nothing of that name can exist, so nothing is looked up, and nothing
 * is repeated: it may be a key in the wrong place.
 */
export function refuseMalformedIds(router: Router, things: Readonly<Record<string, Thing>>): Router {
  for (const [param, thing] of Object.entries(things)) {
    router.param(param, (_req, _res, next, id: string) => {
      if (!ID_PATTERNS[thing].test(id)) throw new NotFoundError(thing, 'of this id');
      next();
    });
  }
  return router;
}
