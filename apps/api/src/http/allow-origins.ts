import type { RequestHandler } from 'express';

const ALLOWED = {
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
      res.status(204).set(ALLOWED).end();
      return;
    }
    next();
  };
}
