import type { Logger } from '@herald/runtime/log/logger';
import { Router, type RequestHandler } from 'express';
import type { FailureLimiter } from '../auth/failure-limiter.ts';
import { clientAddressOf } from '../http/client-address.ts';
import { HttpFault } from '../http/problem.ts';
import { stateOf } from '../http/request-state.ts';
import { createSecurityHeaders } from '../http/security-headers.ts';
import { createCheckCredentials, type OperatorCredentials } from './check-credentials.ts';
import { judgeOrigin } from './judge-origin.ts';

export type OperatorGuardDeps = {
  readonly credentials: OperatorCredentials;
  /** Not that of the API keys: guesses at keys must not lock out operators. */
  readonly failures: FailureLimiter;
  readonly logger: Logger;
};

const CHALLENGE = { 'www-authenticate': 'Basic realm="Herald", charset="UTF-8"' };

/** Inline styles of the board's program: the Redis logo, and lists without a scroll bar. */
const OWN_STYLES = [
  "'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='",
  "'sha256-kLmvWqfziFavKtqHqRsb90f006UAK2Dmd0It5Iz2KFA='",
];

/** Allows this origin alone, the known inline styles, and no frame. */
const PAGE_POLICY = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'worker-src': ["'self'"],
  'style-src': ["'self'", ...OWN_STYLES],
  'img-src': ["'self'", 'data:'],
  'font-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'self'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Guards every operator page: security headers, sign-in, and proof that a change comes from the pages themselves. */
export function createOperatorGuard({ credentials, failures, logger }: OperatorGuardDeps): Router {
  const isOperator = createCheckCredentials(credentials);
  const signIn: RequestHandler = (req, _res, next) => {
    const fault = new HttpFault(
      'unauthenticated',
      "sign in with the operator's user and password (HTTP Basic)",
      CHALLENGE,
    );
    const given = req.get('authorization');
    // A browser first asks without credentials. That is no guess.
    if (given === undefined) throw fault;
    failures.refuseGuessers(req);
    if (!isOperator(given)) {
      logger.warn('operator.sign_in_failed', { requestId: stateOf(req).requestId, address: clientAddressOf(req) });
      throw failures.judge(req, fault);
    }
    stateOf(req).caller = { by: 'operator', user: credentials.user, scopes: [] };
    next();
  };
  const refuseForeign: RequestHandler = (req, _res, next) => {
    const problem = judgeOrigin({
      method: req.method,
      fetchSite: req.get('sec-fetch-site'),
      origin: req.get('origin'),
      ownOrigin: `${req.protocol}://${req.host}`,
    });
    if (problem !== undefined) throw new HttpFault('foreign_origin', problem);
    next();
  };
  return Router().use(createSecurityHeaders(PAGE_POLICY), signIn, refuseForeign);
}
