import type { ApiKey, ApiKeyStore, Scope } from '@herald/store/api-keys/api-key-store';
import type { RequestHandler } from 'express';
import { stateOf } from '../http/request-state.ts';
import { HttpFault } from '../http/problem.ts';
import type { FailureLimiter } from './failure-limiter.ts';

export type AuthenticateDeps = {
  /** Called for every request, so that a revoked key is refused at once. */
  readonly findKey: ApiKeyStore['find'];
  readonly failures: FailureLimiter;
  /** Called for every request with a valid key. */
  readonly noteUse: (key: ApiKey) => void;
};

/** Lets a request through that carries a valid key of the scope (spec section 5). */
export function createAuthenticate({ findKey, failures, noteUse }: AuthenticateDeps) {
  return function authenticate(scope: Scope): RequestHandler {
    return async (req, _res, next) => {
      const token = /^Bearer +(\S+) *$/i.exec(req.get('authorization') ?? '')?.[1];
      const key = token === undefined ? undefined : await findKey(token);
      if (!key) throw failures.judge(req, unauthenticated(token));
      noteUse(key);
      if (!key.scopes.includes(scope)) {
        throw new HttpFault('insufficient_scope', `this API key lacks the scope ${scope}`);
      }
      stateOf(req).apiKey = key;
      next();
    };
  };
}

function unauthenticated(token: string | undefined): HttpFault {
  const detail =
    token === undefined
      ? 'send the header Authorization: Bearer <API key>'
      : 'this API key is unknown, expired or revoked';
  return new HttpFault('unauthenticated', detail, { 'www-authenticate': 'Bearer' });
}
