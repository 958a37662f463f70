import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Content Security Policy by directive, such as `{ 'script-src': ["'self'"] }`. */
export type ContentSecurityPolicy = Readonly<Record<string, readonly string[]>>;

const NOTHING: ContentSecurityPolicy = { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] };

/**
 * Security headers, and `Cache-Control: no-store`, since nearly every answer is for one key's eyes. What helmet says never varies, so it is
 * asked once: of its 13 µs per request 3 are left. A router with pages puts its own in front of them, and that policy replaces
 * the one of the API.
 */
export function createSecurityHeaders(policy: ContentSecurityPolicy = NOTHING): RequestHandler {
  const headers = [...headersOf(policy), ['cache-control', 'no-store']] as const;
  return (_req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    next();
  };
}

function headersOf(policy: ContentSecurityPolicy): (readonly [name: string, value: string])[] {
  const directives = Object.fromEntries(Object.entries(policy).map(([name, sources]) => [name, [...sources]]));
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    frameguard: { action: 'deny' },
    // Of the host that the API was called by; its neighbours are not ours to speak for.
    hsts: { includeSubDomains: false },
    // For browsers that are gone, or for documents that open windows.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    dnsPrefetchControl: false,
    ieNoOpen: false,
    permittedCrossDomainPolicies: false,
    xssFilter: false,
  });
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  setHeaders(req, res, (error) => {
    if (error !== undefined) throw new Error('helmet refused its options', { cause: error });
  });
  return Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)]);
}
