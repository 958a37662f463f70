import type { ApiKey, ApiKeyStore } from '@herald/store/api-keys/api-key-store';
import { looksLikePortalToken } from '@herald/store/api-keys/api-key-text';
import type { PortalLink, PortalLinkStore } from '@herald/store/portal-links/portal-link-store';
import type { Logger } from '@herald/runtime/log/logger';
import type { RequestHandler } from 'express';
import { stateOf, type Caller } from '../http/request-state.ts';
import { createPortalLinkJudge } from '../routing/judge-portal-link.ts';
import type { RouteTable } from '../routing/operation.ts';
import { HttpFault } from '../http/problem.ts';
import { bearerTokenOf } from '../http/bearer-token.ts';
import type { FailureLimiter } from './failure-limiter.ts';

export type AuthenticateDeps = {
  /** Called for every request, so that a revoked key is refused at once. */
  readonly findKey: ApiKeyStore['find'];
  /** Likewise. */
  readonly findLink: PortalLinkStore['find'];
  readonly failures: FailureLimiter;
  /** Called for every request with a valid key. */
  readonly noteUse: (key: ApiKey) => void;
  readonly logger: Logger;
};

/**
 * Lets a request through that carries a valid key of the table's scope (spec section 5), or a portal link for which the
 * operation is.
 */
export function createAuthenticate({ findKey, findLink, failures, noteUse, logger }: AuthenticateDeps) {
  const findCaller = async (token: string): Promise<Caller | undefined> => {
    if (!looksLikePortalToken(token)) return await findKey(token);
    const link = await findLink(token);
    return link && toCaller(link);
  };
  return function authenticate<Deps>(table: RouteTable<Deps>): RequestHandler {
    const judgeLink = createPortalLinkJudge(table, logger);
    return async (req, _res, next) => {
      const token = bearerTokenOf(req);
      const caller = token === undefined ? undefined : await findCaller(token);
      if (!caller) throw failures.judge(req, unauthenticated(token));
      if (caller.portalLink) {
        judgeLink(req, caller.portalLink);
      } else {
        noteUse(caller);
        refuseOtherScope(caller, table.scope);
      }
      stateOf(req).apiKey = caller;
      next();
    };
  };
}

/** A link counts as a key of its own, which has requests and Idempotency-Keys of its own. */
function toCaller(portalLink: PortalLink): Caller {
  const { id, workspaceId, createdAt, expiresAt } = portalLink;
  return { id, workspaceId, scopes: ['webhooks'], createdAt, expiresAt, portalLink };
}

function refuseOtherScope({ scopes, workspaceId }: ApiKey, scope: RouteTable<never>['scope']): void {
  if (scope === 'any') {
    if (workspaceId === undefined) throw new HttpFault('insufficient_scope', 'this API key belongs to no workspace');
  } else if (!scopes.some((each) => each === scope)) {
    throw new HttpFault('insufficient_scope', `this API key lacks the scope ${scope ?? ''}`);
  }
}

function unauthenticated(token: string | undefined): HttpFault {
  return new HttpFault('unauthenticated', describeFailure(token), { 'www-authenticate': 'Bearer' });
}

function describeFailure(token: string | undefined): string {
  if (token === undefined) return 'send the header Authorization: Bearer <API key>';
  if (looksLikePortalToken(token)) {
    return 'this link has ended: it has expired or was revoked; go back to where you got it, and open a new one';
  }
  return 'this API key is unknown, expired or revoked';
}
