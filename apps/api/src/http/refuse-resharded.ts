import { UnavailableError } from '@herald/core';
import type { OpenShards } from '@herald/store/upgrade/open-shards';
import type { RequestHandler } from 'express';

/**
 * Answers 503 while the data is resharded, or may be, or has vanished: what was written now could lie where nobody
 * looks. Metrics are shown all the same, since it is they that tell.
 */
export function createReshardedRefusal({
  findProblem,
  makeSure,
}: Pick<OpenShards, 'findProblem' | 'makeSure'>): RequestHandler {
  return async (req, _res, next) => {
    // Nothing to wait for, as good as always.
    if (req.path !== '/metrics' && findProblem() && (await makeSure())) {
      throw new UnavailableError('the data can not be reached for a moment; try again');
    }
    next();
  };
}
