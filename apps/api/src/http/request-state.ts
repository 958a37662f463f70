import { AsyncLocalStorage } from 'node:async_hooks';
import { isIP } from 'node:net';
import type { DisabledBy, InputProblem, Seed, WorkspaceId } from '@herald/core';
import type { Finding } from '@herald/runtime/finding';
import type { LogFields, Logger } from '@herald/runtime/log';
import type { ApiKey } from '@herald/store/access/api-key-store';
import type { NewAuditEntry } from '@herald/store/access/audit-trail';
import type { PortalLink } from '@herald/store/access/portal-link-store';
import {
  PROXY_NOT_TRUSTED,
  UNTRUSTED_PROXY_KEPT_MS,
  type UntrustedProxyMark,
} from '@herald/store/operators/create-readiness';
import { randomToken } from '@herald/store/redis/random-token';
import type { Request, RequestHandler } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';

/** Who makes a request. */
export type Caller = Pick<ApiKey, 'workspaceId' | 'scopes' | 'expiresAt'> & {
  /** `key_…`, `plk_…`, or `operator` for one who has signed in. */
  readonly by: string;
  /** The user name of an operator, also of one who comes by a link that he made; `platform` of a platform key. */
  readonly user?: string;
  readonly portalLink?: PortalLink;
};

/** Facts about a request that middleware finds out for the handlers behind it. */
type RequestState = {
  requestId?: string;
  /** The pattern of the route that it came to. Absent: it came to none. */
  route?: string;
  /** The path of the operation that it came to, such as `/tasks/{id}`. */
  operationPath?: string;
  /** Absent until the request is authenticated. */
  caller?: Caller;
  /** The operation that the caller may run, once somebody has judged that. */
  admittedTo?: object;
  /** What the handler adds to the entry of the audit trail. */
  auditFacts?: Partial<Pick<NewAuditEntry, 'workspaceId' | 'target' | 'reason'>>;
  /** The code of the problem that it was answered with. */
  problem?: string;
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
const current = new AsyncLocalStorage<Request>();

export function stateOf(req: Request): RequestState {
  const known = states.get(req);
  if (known) return known;
  const state: RequestState = {};
  states.set(req, state);
  return state;
}

/** The request that is being answered; undefined outside of one. */
export function currentRequest(): Request | undefined {
  return current.getStore();
}

/** Calls back so that `currentRequest` finds the request, then and in all that follows from it. */
function withinRequest(req: Request, callback: () => void): void {
  current.run(req, callback);
}

/**
 * Notes where a request has come to.
 * @param pattern for logs, metrics and traces, such as `/tasks/:id`
 * @param operationPath the same of an operation, such as `/tasks/{id}`
 */
export function atRoute(pattern: string, operationPath?: string): RequestHandler {
  const route = pattern.replace(/(?<=.)\/$/, '');
  return (req, _res, next) => {
    const state = stateOf(req);
    state.route = route;
    if (operationPath !== undefined) state.operationPath = operationPath;
    next();
  };
}

/** Lets a request run an operation. Only who has judged the caller calls it. */
export function admit(req: Request, operation: object): void {
  stateOf(req).admittedTo = operation;
}

/** @throws Error if the route asks for no credentials */
export function callerOf(req: Request): Caller {
  const { caller } = stateOf(req);
  if (!caller) throw new Error('this route asks for no API key');
  return caller;
}

/** The controller workspace of the request's key. @throws Error if the key belongs to no workspace */
export function workspaceOf(req: Request): WorkspaceId {
  const { workspaceId } = callerOf(req);
  if (workspaceId === undefined) throw new Error('only keys of a workspace have the scopes of this route');
  return workspaceId;
}

/**
 * Whose budget of requests this one draws from: a workspace's, that of a platform key, or that of the operators who look
 * at a workspace, which nothing that its tenant does takes.
 */
export function budgetOf(req: Request): string {
  const { workspaceId, by } = callerOf(req);
  // No workspace has a colon in its id.
  if (workspaceId === undefined) return `platform:${by}`;
  return isByOperatorsLink(req) ? `operators:${workspaceId}` : workspaceId;
}

/** Whether it came by a link that an operator made. */
export function isByOperatorsLink(req: Request): boolean {
  return callerOf(req).portalLink?.operator !== undefined;
}

/** Who a receiver shows as the one who disabled it, if this request does: an operator is the platform. */
export function disablerOf(req: Request): DisabledBy {
  const { by, user } = callerOf(req);
  return user === undefined ? by : 'platform';
}

/** One subscriber has at least a network of this size, and can call from any address in it. */
const IPV6_PREFIX_BITS = 64;
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The address that a request comes from. Express finds it behind as many proxies as TRUST_PROXY says. It ignores entries
 * of X-Forwarded-For beyond these, which the caller may have written.
 */
export function addressOf(req: Request): string {
  const given = req.ip ?? '';
  // Some proxies add the port. With it, every connection would be another client.
  const withoutPort = /^\[?([^\]]+?)\]?:\d+$/.exec(given)?.[1] ?? '';
  const address = [given, withoutPort, req.socket.remoteAddress ?? ''].find((text) => isIP(text) !== 0) ?? 'unknown';
  return MAPPED.exec(address)?.[1] ?? address;
}

/** The client that a request counts for: an IPv4 address or an IPv6 network. */
export function clientAddressOf(req: Request): string {
  const address = addressOf(req);
  return address === 'unknown' ? address : ipKeyGenerator(address, IPV6_PREFIX_BITS);
}

// The log would repeat a key that somebody puts into the wrong header.
const CREDENTIAL = /hrl[dp]_|whsec_/i;

/** The id of the request that is being answered; undefined outside of one. */
export function currentRequestId(): string | undefined {
  const request = currentRequest();
  return request && stateOf(request).requestId;
}

/** Gives every request an id: the caller's `x-request-id` if it is a plain token and no credential, else a new one. */
export const giveRequestId: RequestHandler = (req, res, next) => {
  const given = req.get('x-request-id');
  const isFit = given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) && !CREDENTIAL.test(given);
  const id = isFit ? given : `req_${randomToken()}`;
  stateOf(req).requestId = id;
  res.setHeader('x-request-id', id);
  withinRequest(req, next);
};

/** The same log, with the id of the current request in each line. */
export function withRequestId(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (event: string, fields?: LogFields, error?: unknown): void => {
      const requestId = currentRequestId();
      logger[level](event, requestId === undefined ? fields : { requestId, ...fields }, error);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** How often the mark in Redis is renewed at most, in ms. */
const RENEW_MS = 60_000;

type UntrustedProxyDeps = {
  /** TRUST_PROXY. */
  readonly proxyCount: number;
  readonly mark: Pick<UntrustedProxyMark, 'set'>;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Notes that requests come through a proxy although TRUST_PROXY says that there is none. No request waits for it. */
export function createUntrustedProxyNote({ proxyCount, mark, logger, now }: UntrustedProxyDeps) {
  let seenAt = -Infinity;
  let markedAt = -Infinity;
  const isSeen = () => now() - seenAt < UNTRUSTED_PROXY_KEPT_MS;
  const note: RequestHandler = (req, _res, next) => {
    const { 'x-forwarded-for': forwardedFor, forwarded } = req.headers;
    if (proxyCount === 0 && (forwardedFor !== undefined || forwarded !== undefined)) {
      const at = now();
      if (!isSeen()) logger.warn('proxy.not_trusted');
      seenAt = at;
      if (at - markedAt >= RENEW_MS) {
        markedAt = at;
        void mark.set().catch((error: unknown) => {
          logger.warn('proxy.mark_not_written', {}, error);
        });
      }
    }
    next();
  };
  return {
    note,
    findWarning: (): Finding | undefined => (isSeen() ? PROXY_NOT_TRUSTED : undefined),
  };
}
