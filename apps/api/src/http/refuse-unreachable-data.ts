import { UnavailableError } from '@herald/core';
import type { OpenShards } from '@herald/store/data/open-shards';
import type { RequestHandler } from 'express';

export type UnreachableDataDeps = {
  /** Whether Redis owes an answer for too long. No I/O. */
  readonly isSilent: () => boolean;
  readonly shards: Pick<OpenShards, 'findProblem' | 'makeSure'>;
};

export const DATA_AWAY = 'the data can not be reached for a moment; try again';

/**
 * Answers 503 while Redis gives no answer: waiting requests would only fill this process. Does the same while the data
 * is resharded or gone: no process would look where a request writes. `/metrics` stays, because it shows the problem.
 */
export function refuseUnreachableData({ isSilent, shards }: UnreachableDataDeps): RequestHandler {
  const unreachable = () => new UnavailableError(DATA_AWAY);
  return async (req, _res, next) => {
    if (isSilent()) throw unreachable();
    // `makeSure` waits only if there is a problem.
    if (req.baseUrl + req.path !== '/metrics' && shards.findProblem() && (await shards.makeSure())) throw unreachable();
    next();
  };
}
