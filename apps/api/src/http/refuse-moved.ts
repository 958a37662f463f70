import { UnavailableError } from '@herald/core';
import type { OpenShards } from '@herald/infra';
import type { RequestHandler } from 'express';

/** Answers 503 while the data is moved, or may be: what was written now could lie where nobody looks. */
export function createMovedRefusal(findProblem: OpenShards['findProblem']): RequestHandler {
  return (_req, _res, next) => {
    next(findProblem() && new UnavailableError('the data can not be reached for a moment; try again'));
  };
}
