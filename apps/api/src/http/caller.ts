import type { WorkspaceId } from '@herald/core';
import type { ApiKey } from '@herald/store/api-keys/api-key-store';
import type { Request } from 'express';

const keys = new WeakMap<Request, ApiKey>();

/** Remembers the key that the request was authenticated with. */
export function setApiKey(req: Request, key: ApiKey): void {
  keys.set(req, key);
}

/** @throws Error where the route asks for no key */
export function apiKeyOf(req: Request): ApiKey {
  const key = keys.get(req);
  if (!key) throw new Error('this route asks for no API key');
  return key;
}

/** The controller workspace of the request's key. @throws Error where the key's scopes belong to no workspace */
export function workspaceOf(req: Request): WorkspaceId {
  const { workspaceId } = apiKeyOf(req);
  if (workspaceId === undefined) throw new Error('only keys of a workspace have the scopes of this route');
  return workspaceId;
}
