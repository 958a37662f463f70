import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, STATUS_CODES, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpFault, toProblem } from './problem.ts';

/** Times in ms, sizes in bytes. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Node checks the two above this often, through all connections. Its default of 30 s would let a client hold one for a
  // minute.
  connectionsCheckingInterval: 1_000,
  // Longer than the usual 60 s of a load balancer, so that the load balancer closes first and loses no request.
  keepAliveTimeout: 65_000,
  // A client that has read nothing of its answer for so long is cut off. Progress is seen in steps, as the system's
  // buffer empties, and looked for this often: it may take twice as long.
  unreadTimeout: 30_000,
  // The request line is part of it.
  maxHeaderSize: 16_384,
  // The server closes further connections at once and keeps those that are open.
  maxConnections: 16_384,
};
export type HttpLimits = typeof LIMITS;

/** A server that a slow or greedy client cannot hold up. It answers bytes that are no request with a problem too. */
export function createHttpServer(listener: RequestListener, limits: Partial<HttpLimits> = {}): Server {
  const { maxConnections, unreadTimeout, ...times } = { ...LIMITS, ...limits };
  // The app refuses a request without a host. Node's own answer would be no problem document and not be logged.
  const options = { ...times, requireHostHeader: false };
  const clear: RequestListener = (req, res) => {
    req.url = toPath(req.url ?? '');
    res.on('timeout', closeUnread);
    listener(req, res);
  };
  const server = createServer(options, clear);
  server.maxConnections = maxConnections;
  // Of a connection on which nothing moves. Each answer says what comes of it.
  server.timeout = unreadTimeout;
  // Node would answer an unknown expectation with a bare 417. A server may also ignore it (RFC 9110, 10.1.1).
  server.on('checkExpectation', clear);
  server.on('clientError', createClientErrorListener());
  return server;
}

/** Closes a connection on which nothing moves while it holds bytes of an answer. One whose answer is being made waits. */
function closeUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
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

type ParserError = Error & { readonly code?: string };

const FAULTS: Readonly<Record<string, readonly [HttpFault['code'], detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'the request line and headers are larger than 16 KiB together'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'the extensions of the chunks are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'request_timeout',
    'the request took too long to arrive: 10 s for its headers, 30 s for all of it',
  ],
};
const MALFORMED = ['malformed_request', 'this is not a request in HTTP/1.1'] as const;

/** Connections that are answered before other requests get their turn. Ten thousand may time out together. */
const ANSWERED_AT_A_TIME = 20;

/** Creates a listener for the `clientError` of a server. */
export function createClientErrorListener(): (error: ParserError, socket: Socket) => void {
  const waiting: (readonly [ParserError, Socket])[] = [];
  const answerSome = () => {
    for (const [error, socket] of waiting.splice(0, ANSWERED_AT_A_TIME)) answerClientError(error, socket);
    if (waiting.length > 0) setImmediate(answerSome);
  };
  return (error, socket) => {
    if (waiting.push([error, socket]) === 1) setImmediate(answerSome);
  };
}

/** Answers malformed bytes with a problem. Closes the connection: the start of the next request is unknown. */
function answerClientError(error: ParserError, socket: Socket): void {
  // A client that sent nothing expects no answer.
  if (!socket.writable || socket.bytesRead === 0 || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const response = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
  if (response?.req.complete) {
    // The error came behind a complete request, which is being answered. The client would take it for that answer.
    // What follows is not read: it would look as if something moved.
    socket.pause();
    response.once('close', () => {
      socket.destroySoon();
    });
    return;
  }
  if (response?.headersSent) {
    socket.destroy();
    return;
  }
  const [code, detail] = FAULTS[error.code ?? ''] ?? MALFORMED;
  const requestId = `req_${randomBytes(9).toString('base64url')}`;
  const problem = toProblem(new HttpFault(code, detail));
  const body = JSON.stringify({ ...problem, requestId });
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
      'content-type: application/problem+json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'cache-control: no-store',
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // Do not wait for a client that goes on sending or never reads.
  socket.destroySoon();
}
