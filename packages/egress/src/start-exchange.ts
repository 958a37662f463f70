import type { AttemptOutcome } from '@herald/core';
import got from 'got';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import { KEPT_BYTES, readAnswerText } from './answer-text.ts';
import type { GuardedAgent } from './guarded-agent.ts';
import { judgeFailure } from './judge-failure.ts';

/** Where a request goes. `host` has no brackets. */
export interface Target {
  readonly url: URL;
  readonly host: string;
  readonly port: number;
}

export interface ExchangeRequest {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For all of it: look-up, connection, answer and body. */
  readonly timeoutMs: number;
}

export interface ExchangeEnd {
  readonly outcome: AttemptOutcome;
  /**
   * True when a connection that was kept from an earlier request died before a byte of the answer came. Most likely the
   * server closed it while it was unused and saw nothing of the request.
   */
  readonly wasStale: boolean;
}

export interface Exchange {
  /** Rejects only when it's not the receiver's fault. */
  readonly ended: Promise<ExchangeEnd>;
  abort(): void;
}

/** Of a body, enough to let short answers leave the connection usable; the rest of a longer one is not worth its traffic. */
const READ_LIMIT_BYTES = 64 * 1_024;

/**
 * The total deadline is got's `timeout.request` and nothing else: it alone ends trickled headers, trickled bodies, endless
 * 1xx answers and silent TLS peers alike. It counts per try, and so got's own retries are off.
 */
const client = got.extend({
  method: 'POST',
  retry: { limit: 0 },
  throwHttpErrors: false,
  followRedirect: false,
  decompress: false,
});

/** One HTTP request and the answer to it. Once `ended` settles, its connection is either ready for the next or gone. */
export function startExchange(agent: GuardedAgent, { target, headers, body, timeoutMs }: ExchangeRequest): Exchange {
  const { promise: ended, resolve, reject } = Promise.withResolvers<ExchangeEnd>();
  let bytesReadBefore = 0;
  let request: ClientRequest | undefined;

  const stream = client.stream(target.url, { timeout: { request: timeoutMs }, request: open });
  stream.once('response', read);
  // Stays for as long as the stream lives: after the outcome is known, errors are of no interest but still happen.
  stream.on('error', fail);
  // Not as got's `body`, of which every request would make two deep copies.
  stream.end(body);
  return {
    ended,
    abort: () => {
      leave({ kind: 'aborted' });
    },
  };

  /** In place of got's own: everything that concerns look-up and TLS belongs to the agent, and headers need no reworking. */
  function open(url: URL): ClientRequest {
    const { host, port } = target;
    const opened = httpsRequest({ host, port, path: url.pathname + url.search, method: 'POST', headers, agent });
    opened.once('socket', (socket) => {
      bytesReadBefore = socket.bytesRead;
    });
    // Nobody asked for another protocol. Got listens too, and a listener makes Node hand the connection over to nobody.
    opened.once('upgrade', (_answer, socket) => {
      socket.destroy();
      leave({ kind: 'unreachable', reason: 'malformed_answer' });
    });
    request = opened;
    return opened;
  }

  function read(response: IncomingMessage): void {
    const status = response.statusCode ?? 0;
    // Three digits are all that Node asks for. There is no 099 and no 999 (RFC 9110 section 15), and nobody could go by one.
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
      // An answer may come before the request was read. Nobody would wait for the rest of it to go out.
      if (request?.writableFinished) settle(responded());
      else leave(responded());
    });

    function responded(): AttemptOutcome {
      const retryAfter = response.headers['retry-after'];
      return {
        kind: 'responded',
        status,
        ...(retryAfter !== undefined && { retryAfter }),
        answer: readAnswerText(Buffer.concat(start)),
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
      });
      settle(outcome, isStale(outcome));
    } catch (cause) {
      reject(cause instanceof Error ? cause : new Error('a request failed', { cause }));
    }
  }

  function isStale(outcome: AttemptOutcome): boolean {
    const wasReset = outcome.kind === 'unreachable' && outcome.reason === 'connection_reset';
    return wasReset && request?.reusedSocket === true && request.socket?.bytesRead === bytesReadBefore;
  }

  function settle(outcome: AttemptOutcome, wasStale = false): void {
    resolve({ outcome, wasStale });
  }

  /** Settle, and give the connection up. */
  function leave(outcome: AttemptOutcome): void {
    settle(outcome);
    stream.destroy();
  }
}
