import type { AttemptOutcome } from '@herald/core';
import got from 'got';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { readAnswerHeaders } from './answer-headers.ts';
import { KEPT_BYTES, readAnswerText } from './answer-text.ts';
import { ProxyFailedError } from './egress-errors.ts';
import type { GuardedAgent, GuardedRequestOptions } from './guarded-agent.ts';
import { judgeFailure } from './judge-failure.ts';
import type { Tunnel } from './open-tunnel.ts';

/** Where a request goes. `host` has no brackets. */
export type Target = { readonly url: URL; readonly host: string; readonly port: number };

export type ExchangeRequest = {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Limits look-up, connection, answer and body together. */
  readonly timeoutMs: number;
};

export type ExchangeEnd = {
  readonly outcome: AttemptOutcome;
  /**
   * A connection that was kept from an earlier request died before a byte of the answer came. Most likely the server
   * closed it while it was unused and never saw the request.
   */
  readonly wasStale: boolean;
};

/** A connection stays usable when its body ends within this limit. A longer body is cut off. */
const READ_LIMIT_BYTES = 64 * 1_024;

/**
 * Only got's `timeout.request` sets the total deadline: it ends trickled headers, trickled bodies, endless 1xx answers
 * and silent TLS peers alike. It counts per try, so got's own retries are off.
 */
const client = got.extend({
  method: 'POST',
  retry: { limit: 0 },
  throwHttpErrors: false,
  followRedirect: false,
  decompress: false,
});

/**
 * One HTTP request and the answer to it. Once `ended` settles, its connection is either ready for the next request or
 * gone. `ended` rejects only when the failure is not the receiver's fault.
 */
export function startExchange(agent: GuardedAgent, { target, headers, body, timeoutMs }: ExchangeRequest) {
  const { promise: ended, resolve, reject } = Promise.withResolvers<ExchangeEnd>();
  let bytesReadBefore = 0;
  let request: ClientRequest | undefined;
  let tunnel: Tunnel | undefined;
  const onTunnel = (made: Tunnel): void => {
    tunnel = made;
  };

  const stream = client.stream(target.url, { timeout: { request: timeoutMs }, request: open });
  stream.once('response', read);
  // The listener stays as long as the stream lives: errors still happen after the outcome is known.
  stream.on('error', fail);
  // Not as got's `body`: each request would make two deep copies of it.
  stream.end(body);
  return {
    ended,
    abort: (): void => {
      leave({ kind: 'aborted' });
    },
  };

  /** Replaces got's own: the agent decides on look-up and TLS, and the headers are final. */
  function open(url: URL): ClientRequest {
    const { host, port } = target;
    const path = url.pathname + url.search;
    const options: GuardedRequestOptions = {
      host,
      port,
      path,
      method: 'POST',
      headers,
      agent,
      onTunnel,
      tunnelWithinMs: timeoutMs,
    };
    const opened = httpsRequest(options);
    opened.once('socket', (socket) => {
      bytesReadBefore = socket.bytesRead;
    });
    // No request asks for another protocol. Got listens for `upgrade` too, so Node gives the connection away, and it
    // must be closed here.
    opened.once('upgrade', (_answer, socket) => {
      socket.destroy();
      leave({ kind: 'unreachable', reason: 'malformed_answer' });
    });
    request = opened;
    return opened;
  }

  function read(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    // Node accepts any three digits, but there is no status 099 or 999 (RFC 9110 section 15).
    if (status < 100 || status > 599) {
      leave({ kind: 'unreachable', reason: 'malformed_answer' });
      return;
    }
    const start: Buffer[] = [];
    let receivedBytes = 0;
    stream.on('data', (chunk: Buffer) => {
      if (receivedBytes < KEPT_BYTES) start.push(chunk);
      receivedBytes += chunk.length;
      if (receivedBytes >= READ_LIMIT_BYTES) leave(responded());
    });
    stream.once('end', () => {
      // The answer came before the whole request was sent. The connection can't be used again without sending the rest.
      if (request?.writableFinished) settle(responded());
      else leave(responded());
    });

    function responded(): AttemptOutcome {
      const retryAfter = response.headers['retry-after'];
      const answerHeaders = readAnswerHeaders(response.headers);
      return {
        kind: 'responded',
        status,
        ...(retryAfter !== undefined && { retryAfter }),
        answer: readAnswerText(Buffer.concat(start)),
        ...(answerHeaders && { headers: answerHeaders }),
      };
    }
  }

  function fail(error: Error): void {
    try {
      const socket = request?.socket;
      const outcome = judgeFailure(error, {
        host: target.host,
        timings: stream.timings,
        isReused: request?.reusedSocket ?? false,
        certificateProblem: socket instanceof TLSSocket ? socket.authorizationError : undefined,
        tunnel: tunnel?.phase(),
      });
      settle(outcome, isStale(outcome));
    } catch (cause) {
      if (cause instanceof ProxyFailedError) tunnel?.failed(cause);
      tunnel?.close();
      reject(cause instanceof Error ? cause : new Error('a request failed', { cause }));
    }
  }

  function isStale(outcome: AttemptOutcome): boolean {
    const wasReset = outcome.kind === 'unreachable' && outcome.reason === 'connection_reset';
    return wasReset && request?.reusedSocket === true && request.socket?.bytesRead === bytesReadBefore;
  }

  function settle(outcome: AttemptOutcome, wasStale = false): void {
    // It may still be under way, and nobody waits for it any more.
    tunnel?.close();
    resolve({ outcome, wasStale });
  }

  /** Settles, and closes the connection. */
  function leave(outcome: AttemptOutcome): void {
    settle(outcome);
    stream.destroy();
  }
}
