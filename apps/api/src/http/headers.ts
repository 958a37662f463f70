import { type EndpointId, PreconditionFailedError } from '@herald/core';
import type { Request, RequestHandler } from 'express';
import { HttpFault } from './problem.ts';

/**
 * Refuses a request that does not name its host exactly once (RFC 9112 section 3.2) or authenticates twice (RFC 9110
 * section 5.3). Node uses the first of two headers; a proxy on the way might use the other.
 */
export const refuseUnclearHeaders: RequestHandler = (req, _res, next) => {
  const hosts = countHeader(req.rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && req.httpVersion === '1.1')) throw unclear('send the header Host, once');
  if (countHeader(req.rawHeaders, 'authorization') > 1) throw unclear('send the header Authorization once');
  next();
};

/** Answers carry no validators, so no request is conditional. Express would answer `If-None-Match: *` with a 304. */
export const ignoreConditions: RequestHandler = (req, _res, next) => {
  delete req.headers['if-none-match'];
  delete req.headers['if-modified-since'];
  next();
};

/** @param rawHeaders names and values in turn, as Node keeps them */
function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}

function unclear(detail: string): HttpFault {
  return new HttpFault('malformed_request', detail, { connection: 'close' });
}

/** Content Security Policy by directive, such as `{ 'script-src': ["'self'"] }`. */
export type ContentSecurityPolicy = Readonly<Record<string, readonly string[]>>;

const NOTHING: ContentSecurityPolicy = { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] };

const SECURITY_HEADERS = {
  // Nearly every answer is for the owner of one key.
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // Without subdomains: Herald does not decide for the neighbours of its host.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Sets the security headers. A router with pages sets them once more, with a policy that replaces that of the API. */
export function createSecurityHeaders(policy: ContentSecurityPolicy = NOTHING): RequestHandler {
  const directives = Object.entries(policy).map(([name, sources]) => [name, ...sources].join(' '));
  const headers = Object.entries({ ...SECURITY_HEADERS, 'content-security-policy': directives.join(';') });
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-match, traceparent',
  'access-control-max-age': '600',
};

/**
 * Lets pages of these origins call what customers call (the Fetch standard, section 3.3). They bring a key or the token of
 * a portal link themselves: a browser adds nothing by itself, as credentials are not allowed.
 */
export function createAllowOrigins(origins: readonly string[]): RequestHandler {
  return (req, res, next) => {
    if (origins.length === 0) {
      next();
      return;
    }
    res.vary('origin');
    const { origin } = req.headers;
    if (origin === undefined || !origins.includes(origin)) {
      next();
      return;
    }
    res
      .set('access-control-allow-origin', origin)
      .set('access-control-expose-headers', 'etag, retry-after, x-request-id');
    res.set('cross-origin-resource-policy', 'cross-origin');
    if (req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined) {
      res.status(204).set(CROSS_ORIGIN_HEADERS).end();
      return;
    }
    next();
  };
}

/** The `ETag` of what has this version. */
export function etagOf({ version }: { readonly version: string }): string {
  return `"${version}"`;
}

/**
 * The version that `If-Match` demands of a receiver; undefined: any. A proxy that compresses may have weakened the tag,
 * which stands for the settings all the same.
 * @throws PreconditionFailedError when it has another one now
 */
export function demandedVersion(req: Request, id: EndpointId, found: { readonly version: string }): string | undefined {
  const ifMatch = req.get('if-match')?.trim();
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (!tags.includes(etagOf(found))) throw new PreconditionFailedError(id);
  return found.version;
}

/** What has no `ETag` can match none (RFC 9110, 13.1.1). A condition that is passed over would protect nobody. */
export function refuseIfMatch(req: Request): void {
  const ifMatch = req.get('if-match');
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  throw new PreconditionFailedError();
}
