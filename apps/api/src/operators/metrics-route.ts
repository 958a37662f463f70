import type { Exposition } from '@herald/store/operators/exposition';
import { Router, type Request, type RequestHandler } from 'express';
import type { FailureLimiter } from '../auth/failure-limiter.ts';
import { bearerTokenOf } from '../auth/judge-access.ts';
import { HttpFault } from '../http/problem.ts';
import { admit, atRoute, stateOf } from '../http/request-state.ts';
import { refuseOtherMethods } from '../http/create-router.ts';
import { createCheckSecret } from './sign-in.ts';

export type MetricsRouteDeps = {
  readonly exposition: Exposition;
  /** METRICS_TOKEN. Undefined: operators alone read the metrics. */
  readonly token: string | undefined;
  /** Undefined: there are no operators. */
  readonly guard: readonly RequestHandler[] | undefined;
  /** Of wrong tokens, apart from the sign-ins of people. A right one always passes: it is too long to be guessed. */
  readonly failures: FailureLimiter;
};

/** Wrong METRICS_TOKENs of one address that get a 401. */
export const TOKEN_FAILURES_PER_MINUTE = 30;
const CHALLENGE = { 'www-authenticate': 'Bearer realm="Herald"' };

/** `/metrics`: for Prometheus, which has the token, and for operators, who look at it. */
export function createMetricsRoute({ exposition, token, guard, failures }: MetricsRouteDeps): Router {
  const isToken = token === undefined ? undefined : createCheckSecret(token);
  const judgeToken: RequestHandler = (req, _res, next) => {
    const given = isToken && bearerTokenOf(req);
    if (given !== undefined && isToken) {
      if (!isToken(given))
        throw failures.judge(req, new HttpFault('unauthenticated', 'this is not METRICS_TOKEN', CHALLENGE));
      admit(req, exposition);
    } else if (!guard) {
      throw new HttpFault('unauthenticated', 'send the header Authorization: Bearer <METRICS_TOKEN>', CHALLENGE);
    }
    next();
  };
  const isAdmitted = (req: Request) => stateOf(req).admittedTo === exposition;
  const judgeOperator = (guard ?? []).map((step): RequestHandler => {
    return (req, res, next) => {
      if (!isAdmitted(req)) return step(req, res, next);
      next();
      return undefined;
    };
  });
  const router = Router();
  router
    .route('/metrics')
    .all(atRoute('/metrics'), judgeToken, ...judgeOperator)
    .get(async (req, res) => {
      if (!isAdmitted(req) && stateOf(req).caller?.by !== 'operator') throw new Error('nobody has judged who reads');
      const text = await exposition.render();
      res.set('content-type', exposition.contentType).send(text);
    })
    .all(refuseOtherMethods('GET'));
  return router;
}
