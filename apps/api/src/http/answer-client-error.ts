import { randomBytes } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { HttpFault, toProblem } from './problem.ts';

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
