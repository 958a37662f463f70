import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createClientErrorListener } from './answer-client-error.ts';

/** Times in ms, sizes in bytes. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Node checks the two above this often, through all connections. Its default of 30 s would let a client hold one for a
  // minute.
  connectionsCheckingInterval: 1_000,
  // Longer than the usual 60 s of a load balancer, so that the load balancer closes first and loses no request.
  keepAliveTimeout: 65_000,
  // The request line is part of it.
  maxHeaderSize: 16_384,
  // The server closes further connections at once and keeps those that are open.
  maxConnections: 16_384,
};
export type HttpLimits = typeof LIMITS;

/** A server that a slow or greedy client cannot hold up. It answers bytes that are no request with a problem too. */
export function createHttpServer(listener: RequestListener, limits: Partial<HttpLimits> = {}): Server {
  const { maxConnections, ...times } = { ...LIMITS, ...limits };
  // The app refuses a request without a host. Node's own answer would be no problem document and not be logged.
  const options = { ...times, requireHostHeader: false };
  const clear: RequestListener = (req, res) => {
    req.url = toPath(req.url ?? '');
    listener(req, res);
  };
  const server = createServer(options, clear);
  server.maxConnections = maxConnections;
  // Node would answer an unknown expectation with a bare 417. A server may also ignore it (RFC 9110, 10.1.1).
  server.on('checkExpectation', clear);
  server.on('clientError', createClientErrorListener());
  return server;
}

/** A path that nothing has. */
const NOWHERE = '//';

/**
 * The path and query of a request's target. Express and proxies read anything else in ways of their own: a host that is
 * missing, a backslash, a fragment, white space. Nothing is there.
 */
function toPath(target: string): string {
  const rest = target.replace(/^https?:\/\/[^/?#\\\s]+(?=[/?]|$)/i, '');
  const path = rest === '' || rest.startsWith('?') ? `/${rest}` : rest;
  return /^\/[^?#\\\s]*(\?[^#\s]*)?$/.test(path) ? path : NOWHERE;
}

/** How often idle connections are closed while the server stops, in ms. */
const IDLE_CHECK_MS = 50;

/**
 * Answers the requests that were taken and tells clients to close their connections. Cuts off the connections that are
 * still busy after `limitMs`, so that no client delays the end of the process.
 */
export async function closeHttpServer(server: Server, limitMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.prependListener('request', (_req, res) => res.setHeader('connection', 'close'));
  server.close();
  const idleTimer = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_CHECK_MS);
  const limitTimer = setTimeout(() => {
    server.closeAllConnections();
  }, limitMs);
  await closed;
  clearInterval(idleTimer);
  clearTimeout(limitTimer);
}
