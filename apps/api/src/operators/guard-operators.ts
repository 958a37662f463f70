import type { Logger } from '@herald/runtime/log';
import type { RequestHandler } from 'express';
import { createSecurityHeaders } from '../http/headers.ts';
import { HttpFault } from '../http/problem.ts';
import { clientAddressOf, stateOf } from '../http/request-state.ts';
import type { CheckCredentials, KnownBrowsers, LimitSignIn } from './sign-in.ts';

type OperatorGuardDeps = {
  readonly checkCredentials: CheckCredentials;
  readonly limitSignIn: LimitSignIn;
  readonly browsers: KnownBrowsers;
  /** Who signs in, for the audit trail. */
  readonly user: string;
  /** The origin of the operator pages, such as `https://herald.example.com`. Undefined: the one that is called. */
  readonly origin: string | undefined;
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

/**
 * Guards every operator page: security headers, sign-in, and proof that a change comes from the pages themselves. These
 * are no router, since Express skips one for a url that has no path left, and goes on to what is behind it.
 */
export function createOperatorGuard(deps: OperatorGuardDeps): readonly RequestHandler[] {
  const { checkCredentials, limitSignIn, browsers, user, origin, logger } = deps;
  const signIn: RequestHandler = async (req, res, next) => {
    const fault = new HttpFault(
      'unauthenticated',
      "sign in with the operator's user and password (HTTP Basic)",
      CHALLENGE,
    );
    // A browser first asks without credentials, and an API key is no password. Neither is a guess.
    const given = checkCredentials(req.get('authorization') ?? '');
    if (!given) throw fault;
    const address = clientAddressOf(req);
    const verdict = await limitSignIn(given, { address, browser: browsers.idOf(req) });
    if (verdict.kind === 'later') throw toComeLater(verdict.afterMs);
    if (verdict.kind === 'wrong') {
      if (verdict.isNew) logger.warn('operator.sign_in_failed', { requestId: stateOf(req).requestId, address });
      throw fault;
    }
    stateOf(req).caller = { by: 'operator', user, scopes: [] };
    browsers.remember(req, res);
    next();
  };
  const refuseForeign: RequestHandler = (req, _res, next) => {
    const problem = judgeOrigin({
      method: req.method,
      fetchSite: req.get('sec-fetch-site'),
      origin: req.get('origin'),
      ownOrigin: origin ?? `${req.protocol}://${req.host}`,
    });
    if (problem !== undefined) throw new HttpFault('foreign_origin', problem);
    next();
  };
  return [createSecurityHeaders(PAGE_POLICY), signIn, refuseForeign];
}

function toComeLater(afterMs: number): HttpFault {
  const afterS = Math.ceil(afterMs / 1_000);
  return new HttpFault('rate_limited', `too many wrong sign-ins lately; try again in ${afterS} s`, {
    'retry-after': String(afterS),
  });
}

export type RequestOrigin = {
  readonly method: string;
  /** The header `Sec-Fetch-Site`, which no page can set. */
  readonly fetchSite: string | undefined;
  /** The header `Origin`, which no page can set. */
  readonly origin: string | undefined;
  /** The origin of the operator pages as the browser sees it, such as `https://herald.example.com`. */
  readonly ownOrigin: string;
};

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Returns why a request is refused, or undefined. A browser also adds Basic credentials to requests that another site
 * makes it send. So a request that may change something must show that it comes from the operator pages.
 */
export function judgeOrigin({ method, fetchSite, origin, ownOrigin }: RequestOrigin): string | undefined {
  if (SAFE_METHODS.includes(method)) return undefined;
  if (fetchSite !== undefined) {
    return fetchSite === 'same-origin' ? undefined : 'only the operator pages themselves may send this request';
  }
  if (origin === undefined) return `send the header Origin: ${ownOrigin}; browsers do by themselves`;
  if (origin === ownOrigin) return undefined;
  return `the request comes from another origin than ${ownOrigin}; behind a proxy, that must be the address that it is called by`;
}
