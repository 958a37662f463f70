import type { InputProblem, Seed, WorkspaceId } from '@herald/core';
import type { ApiKey } from '@herald/store/api-keys/api-key-store';
import type { PortalLink } from '@herald/store/portal-links/portal-link-store';
import type { Request } from 'express';

/** The key that a request was authenticated with, or a portal link in the form of a key. */
export type Caller = ApiKey & { readonly portalLink?: PortalLink };

/** Facts about a request that middleware finds out for the handlers behind it. */
export type RequestState = {
  requestId?: string;
  /** The key that the request was authenticated with. */
  apiKey?: Caller;
  /** The trace of the request, for work that outlives it (W3C Trace Context). Absent: the request is not traced. */
  traceparent?: string;
  /** Makes the ids of what the request creates, the same in every run of it. Absent without an `Idempotency-Key`. */
  seed?: Seed;
  /** A batch in which items hold numbers that parsing changed. Rare. */
  lossyBatch?: {
    /** The body as it came. */
    readonly text: string;
    /** The first such number of each item, by the index of the item. */
    readonly problems: ReadonlyMap<number, InputProblem>;
  };
};

const states = new WeakMap<Request, RequestState>();

export function stateOf(req: Request): RequestState {
  const known = states.get(req);
  if (known) return known;
  const state: RequestState = {};
  states.set(req, state);
  return state;
}

/** @throws Error if the route asks for no key */
export function apiKeyOf(req: Request): Caller {
  const { apiKey } = stateOf(req);
  if (!apiKey) throw new Error('this route asks for no API key');
  return apiKey;
}

/** The controller workspace of the request's key. @throws Error if the key belongs to no workspace */
export function workspaceOf(req: Request): WorkspaceId {
  const { workspaceId } = apiKeyOf(req);
  if (workspaceId === undefined) throw new Error('only keys of a workspace have the scopes of this route');
  return workspaceId;
}
