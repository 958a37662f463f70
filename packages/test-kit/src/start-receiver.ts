import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { CertificateAuthority } from './certificate-authority.ts';
import { waitFor } from './wait-for.ts';

/** For what a receiver's certificate is valid. */
export const RECEIVER_HOSTS: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

export interface ReceivedRequest {
  method: string;
  /** Path and query, as sent. */
  path: string;
  /** Names in lower case; repeated ones joined by a comma. */
  headers: Readonly<Record<string, string>>;
  rawBody: Buffer;
  /** When the headers had arrived, epoch ms. */
  receivedAt: number;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  delayMs?: number;
}

type AnyAnswer = Answer | number | 'hang' | 'reset';

/** Decides one answer. 'hang' never answers, 'reset' resets the connection. `index` counts requests from 0. */
export type Respond = (request: ReceivedRequest, index: number) => AnyAnswer | Promise<AnyAnswer>;

export interface ReceiverOptions {
  ca: CertificateAuthority;
  /** A function, or answers in order, the last of which repeats. Default: 200. */
  respond?: Respond | readonly AnyAnswer[];
  /** Without it: any free one. */
  port?: number;
  /** Checks every request before it is answered. When it throws, `next` and `close` throw. */
  inspect?: (request: ReceivedRequest) => void;
}

export interface Receiver extends AsyncDisposable {
  /** `https://127.0.0.1:<port>` */
  readonly origin: string;
  /** `<origin>/hook`; every other path is received too. */
  readonly url: string;
  /** All requests with a complete body so far, in the order of completion. */
  readonly requests: readonly ReceivedRequest[];
  /** The first request that no earlier `next` has returned; waits for it, by default 10 s. */
  next(deadlineMs?: number): Promise<ReceivedRequest>;
  /** All requests, as soon as there are at least this many; waits by default 10 s. */
  waitForCount(count: number, deadlineMs?: number): Promise<readonly ReceivedRequest[]>;
  close(): Promise<void>;
}

/** A real HTTPS server on loopback that records requests. A `respond` that throws makes `next` and `close` throw. */
export async function startReceiver({ ca, respond = [200], port = 0, inspect }: ReceiverOptions): Promise<Receiver> {
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: RECEIVER_HOSTS });
  const decide = typeof respond === 'function' ? respond : answerInTurn(respond);
  const requests: ReceivedRequest[] = [];
  const failures: unknown[] = [];
  const closing = new AbortController();
  const sockets = new Map<number | undefined, Socket>(); // by remote port: a TLS socket can't be reset, the one below can

  const answer = async (request: ReceivedRequest, req: IncomingMessage, res: ServerResponse) => {
    const index = requests.push(request) - 1;
    inspect?.(request);
    const decision = await decide(request, index);
    if (decision === 'hang') return;
    if (decision === 'reset') {
      sockets.get(req.socket.remotePort)?.resetAndDestroy();
      return;
    }
    const { status, headers, body, delayMs = 0 } = typeof decision === 'number' ? { status: decision } : decision;
    if (delayMs > 0) await pause(delayMs, undefined, { signal: closing.signal });
    res.writeHead(status, headers).end(body);
  };
  const server = createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 60_000 }, (req, res) => {
    readRequest(req).then(
      (request) =>
        answer(request, req, res).catch((error: unknown) => {
          if (closing.signal.aborted) return; // what `close` interrupts is no failure
          failures.push(error);
          res.destroy();
        }),
      () => res.destroy(), // the client went away in the middle of its request, which is then none
    );
  });
  server.on('connection', (socket: Socket) => {
    const { remotePort } = socket;
    sockets.set(remotePort, socket);
    socket.once('close', () => sockets.delete(remotePort));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const throwFailure = () => {
    if (failures.length > 0) throw new AggregateError(failures, `the receiver at ${origin} failed to respond`);
  };
  let taken = 0;
  const next = async (deadlineMs = 10_000) => {
    const index = taken++;
    try {
      return await waitFor(`request ${index + 1} at ${origin}`, () => (throwFailure(), requests[index]), deadlineMs);
    } catch (error) {
      if (taken === index + 1) taken = index; // it is still to be taken, should it come later
      throw error;
    }
  };
  const waitForCount = (count: number, deadlineMs = 10_000) =>
    waitFor(`${count} requests at ${origin}`, () => (throwFailure(), requests), {
      until: (all) => all.length >= count,
      deadlineMs,
    });
  const close = async () => {
    if (!closing.signal.aborted) {
      closing.abort();
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets.values()) socket.destroy();
      await closed;
    }
    throwFailure();
  };
  return { origin, url: `${origin}/hook`, requests, next, waitForCount, close, [Symbol.asyncDispose]: close };
}

async function readRequest(req: IncomingMessage): Promise<ReceivedRequest> {
  const receivedAt = Date.now();
  const rawBody = await buffer(req);
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]));
  return { method: req.method ?? '', path: req.url ?? '', headers, rawBody, receivedAt };
}

function answerInTurn(answers: readonly AnyAnswer[]): Respond {
  return (_request, index) => answers[Math.min(index, answers.length - 1)] ?? 200;
}
