import type { RequestHandler } from 'express';
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

const HEADERS = {
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
  const headers = Object.entries({ ...HEADERS, 'content-security-policy': directives.join(';') });
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}
