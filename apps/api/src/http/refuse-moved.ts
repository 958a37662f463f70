import { UnavailableError } from '@herald/core';
import type { OpenShards } from '@herald/infra';
import type { RequestHandler } from 'express';

/** Answers 503 while the data is moved, or may be: what was written now could lie where nobody looks. */
export function createMovedRefusal({
  findProblem,
  makeSure,
}: Pick<OpenShards, 'findProblem' | 'makeSure'>): RequestHandler {
  return async (_req, _res, next) => {
    // Nothing to wait for, as good as always.
    if (findProblem() && (await makeSure())) {
      throw new UnavailableError('the data can not be reached for a moment; try again');
    }
    next();
  };
}
