import { UnavailableError } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import {
  type ApiKey,
  type ApiKeyStore,
  isApiKeyText,
  isPortalTokenText,
  looksLikePortalToken,
} from '@herald/store/access/api-key-store';
import { PLATFORM_USER } from '@herald/store/access/audit-trail';
import type { PortalLink, PortalLinkStore } from '@herald/store/access/portal-link-store';
import type { OpenShards } from '@herald/store/data/open-shards';
import type { Request, RequestHandler } from 'express';
import type { Steps } from '../http/create-router.ts';
import { isForPortalLinks, type Operation, type RouteTable } from '../http/operation.ts';
import { HttpFault } from '../http/problem.ts';
import { admit, type Caller, stateOf } from '../http/request-state.ts';
import type { FailureLimiter } from './failure-limiter.ts';

type JudgeAccessDeps = {
  /** Called for every request, so that a revoked key is refused at once. */
  readonly findKey: ApiKeyStore['find'];
  /** Likewise. */
  readonly findLink: PortalLinkStore['find'];
  /** Asked for what isn't found: whether there is the data in which it would be. */
  readonly isDataHere: () => Promise<boolean>;
  /** Whether operators may change things now. A link that one made may be older than that. */
  readonly mayOperatorsWrite: boolean;
  readonly failures: FailureLimiter;
  /** Called for every request with a valid key. */
  readonly noteUse: (key: ApiKey) => void;
};

/**
 * Lets a request run an operation if it carries a valid key with the scope of the table (spec section 5), or a portal
 * link for which the operation is.
 */
export function createAccessJudge(deps: JudgeAccessDeps) {
  const { findKey, findLink, isDataHere, mayOperatorsWrite, failures, noteUse } = deps;
  const findCaller = async (token: string): Promise<Caller | undefined> => {
    if (looksLikePortalToken(token)) {
      const link = await findLink(token);
      return link && toCallerByLink(link);
    }
    const key = await findKey(token);
    if (!key) return undefined;
    noteUse(key);
    const { id: by, workspaceId, scopes, expiresAt } = key;
    return {
      by,
      scopes,
      ...(scopes.includes('platform') && { user: PLATFORM_USER }),
      ...(workspaceId !== undefined && { workspaceId }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  };
  /** A link stays as it was made; what operators may do can change while it lives. */
  const isReadOnly = ({ readOnly, operator }: PortalLink) => readOnly || (operator !== undefined && !mayOperatorsWrite);
  const judgeAccess: Steps['judge'] = (operation, table) => {
    return async (req, _res, next) => {
      const token = bearerTokenOf(req);
      const caller = token === undefined ? undefined : await findCaller(token);
      // A 401 lasts: whoever gets it gives up. What has no key's form is none, whatever data there is.
      const mayExist = !caller && token !== undefined && (isApiKeyText(token) || isPortalTokenText(token));
      if (mayExist && !(await isDataHere())) throw new UnavailableError(DATA_AWAY);
      if (!caller) throw failures.judge(req, unauthenticated(token));
      // Whoever is refused has a name, too.
      stateOf(req).caller = caller;
      const refusal = caller.portalLink
        ? findRefusalOfLink({ ...caller.portalLink, readOnly: isReadOnly(caller.portalLink) }, operation, table)
        : findRefusalOfKey(caller, table.access);
      if (refusal !== undefined) throw new HttpFault('insufficient_scope', refusal);
      admit(req, operation);
      next();
    };
  };
  return judgeAccess;
}

/** A link counts as a key of its own, which has Idempotency-Keys of its own. */
function toCallerByLink(portalLink: PortalLink): Caller {
  const { id: by, workspaceId, expiresAt, operator: user } = portalLink;
  return { by, workspaceId, scopes: ['webhooks'], expiresAt, portalLink, ...(user !== undefined && { user }) };
}

const FOR_OPERATORS = 'only an operator may do this, by a link that he made on the pages of operators';

function findRefusalOfLink(
  { readOnly, operator }: PortalLink,
  operation: Operation<never>,
  table: RouteTable<never>,
): string | undefined {
  if (table.access === 'operator_link') {
    if (operator === undefined) return FOR_OPERATORS;
  } else if (!isForPortalLinks(operation, table)) return 'a portal link may not do this; use an API key';
  if (operation.method !== 'get' && readOnly)
    return 'this portal link is read-only; ask for one that may change things';
  return undefined;
}

function findRefusalOfKey({ scopes, workspaceId }: Caller, access: RouteTable<never>['access']): string | undefined {
  if (access === 'operator_link') return FOR_OPERATORS;
  if (access === 'any') return workspaceId === undefined ? 'this API key belongs to no workspace' : undefined;
  return scopes.some((each) => each === access) ? undefined : `this API key lacks the scope ${access}`;
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

type NoteKeyUseDeps = {
  readonly writeLastUse: ApiKeyStore['writeLastUse'];
  readonly logger: Logger;
  readonly now: () => number;
};

/** How long the recorded last use of a key may be out of date, in ms. */
const INTERVAL_MS = 60_000;

/** Records the last use of a key, at most about once a minute. No request waits for it. */
export function createNoteKeyUse({ writeLastUse, logger, now }: NoteKeyUseDeps) {
  const inWriting = new Set<string>();
  return function noteKeyUse({ id, lastUsedAt = 0 }: ApiKey): void {
    const at = now();
    if (at - lastUsedAt < INTERVAL_MS || inWriting.has(id)) return;
    inWriting.add(id);
    void writeLastUse(id, at)
      .catch((error: unknown) => {
        logger.warn('key.last_use_not_written', { keyId: id }, error);
      })
      .finally(() => inWriting.delete(id));
  };
}

/** The token that a request carries; undefined without one. */
export function bearerTokenOf(req: Request): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(req.get('authorization') ?? '')?.[1];
}

type UnreachableDataDeps = {
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
