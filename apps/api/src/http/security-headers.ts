import type { RequestHandler } from 'express';

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
