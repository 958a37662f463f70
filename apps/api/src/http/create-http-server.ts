import { createServer, type RequestListener, type Server } from 'node:http';
import { createClientErrorListener } from './answer-client-error.ts';

/** Times in ms. */
export type HttpLimits = {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  /** The two above are only looked at this often. */
  readonly connectionsCheckingInterval: number;
  readonly keepAliveTimeout: number;
  /** In bytes, the request line included. */
  readonly maxHeaderSize: number;
  /** Beyond it new connections are closed at once, and those that are there go on. */
  readonly maxConnections: number;
};

const LIMITS: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Node's own 30 s would let a client hold a connection for a minute. So often that few run out of time together.
  connectionsCheckingInterval: 100,
  // Longer than the usual 60 s of a load balancer: whoever closes first loses no request.
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  maxConnections: 16_384,
};

/** A server that a slow or greedy client can't hold up. What is no request at all is answered with a problem too. */
export function createHttpServer(listener: RequestListener, limits: Partial<HttpLimits> = {}): Server {
  const { maxConnections, ...times } = { ...LIMITS, ...limits };
  // A request without a host is refused as every other one: Node's own answer is no problem, and leaves no trace.
  const options = { ...times, requireHostHeader: false };
  const server = createServer(options, listener);
  server.maxConnections = maxConnections;
  // Node would answer an expectation that it doesn't know with a bare 417; to go on without it is as right (RFC 9110, 10.1.1).
  server.on('checkExpectation', listener);
  server.on('clientError', createClientErrorListener());
  return server;
}
