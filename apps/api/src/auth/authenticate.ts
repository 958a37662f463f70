import type { WorkspaceId } from '@herald/core';
import type { ApiKey, ApiKeyStore, Scope } from '@herald/infra';
import type { Request, RequestHandler } from 'express';
import { HttpFault } from '../http/http-fault.ts';

const keys = new WeakMap<Request, ApiKey>();

/** Lets a request through that carries a valid key of the scope (spec section 5). */
export function createAuthenticate(findKey: ApiKeyStore['find']) {
  return function authenticate(scope: Scope): RequestHandler {
    return async (req, _res, next) => {
      const token = /^Bearer +(\S+) *$/i.exec(req.get('authorization') ?? '')?.[1];
      const key = token === undefined ? undefined : await findKey(token);
      if (!key) {
        const detail =
          token === undefined
            ? 'send the header Authorization: Bearer <API key>'
            : 'this API key is unknown, expired or revoked';
        throw new HttpFault('unauthenticated', detail, { 'www-authenticate': 'Bearer' });
      }
      if (!key.scopes.includes(scope)) {
        throw new HttpFault('insufficient_scope', `this API key lacks the scope ${scope}`);
      }
      keys.set(req, key);
      next();
    };
  };
}
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** The controller workspace of the request's key. */
export function workspaceOf(req: Request): WorkspaceId {
  const workspaceId = keys.get(req)?.workspaceId;
  if (workspaceId === undefined) throw new Error('only keys of a workspace have the scopes of this route');
  return workspaceId;
}
