import type { AttemptOutcome } from '@herald/core';
import type { GuardedAgent } from './guarded-agent.ts';
import { withoutBrackets } from './judge-url-host.ts';
import { startExchange, type Exchange, type ExchangeEnd, type Target } from './start-exchange.ts';

export interface SendRequest {
  /** What is no `https:` url is blocked: registration lets none in, and a delivery to it must end all the same. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface SendResult {
  readonly outcome: AttemptOutcome;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface Sender {
  /**
   * One attempt: a POST, and one more on a new connection when a kept one turns out to be dead, all within the deadline.
   * Resolves whatever the receiver does; rejects only for an internal error.
   */
  send(request: SendRequest, signal?: AbortSignal): Promise<SendResult>;
  /** Ends what is in flight as `aborted` and closes the agent. May be called twice. */
  close(): void;
}

export interface SenderOptions {
  /** The sender's own from now on: `close` closes it. */
  agent: GuardedAgent;
  /** From the first look-up to the last byte read. */
  deadlineMs: number;
  userAgent: string;
  /** Epoch ms: when an attempt began is shown to people. */
  now: () => number;
}

export function createSender({ agent, deadlineMs, userAgent, now }: SenderOptions): Sender {
  const inFlight = new Set<() => void>();
  let isClosed = false;

  async function attempt(target: Target, request: SendRequest, signal?: AbortSignal): Promise<AttemptOutcome> {
    const headers = { ...request.headers, 'user-agent': userAgent, 'content-length': String(request.body.length) };
    const startedMs = performance.now();
    const isStopped = () => isClosed || signal?.aborted === true;
    if (isStopped()) return { kind: 'aborted' };

    let exchange = start(deadlineMs);
    const abort = () => {
      exchange.abort();
    };
    inFlight.add(abort);
    signal?.addEventListener('abort', abort);
    try {
      const first = await exchange.ended;
      const remainingMs = Math.ceil(deadlineMs - (performance.now() - startedMs));
      if (!first.wasStale || remainingMs <= 0) return first.outcome;
      if (isStopped()) return { kind: 'aborted' };
      agent.dropIdle(target);
      exchange = start(remainingMs);
      const second: ExchangeEnd = await exchange.ended;
      return second.outcome;
    } finally {
      inFlight.delete(abort);
      signal?.removeEventListener('abort', abort);
    }

    function start(timeoutMs: number): Exchange {
      return startExchange(agent, { target, headers, body: request.body, timeoutMs });
    }
  }

  return {
    async send(request, signal) {
      const startedAt = now();
      const startedMs = performance.now();
      const target = readTarget(request.url);
      const outcome: AttemptOutcome = target ? await attempt(target, request, signal) : { kind: 'blocked' };
      return { outcome, startedAt, durationMs: Math.round(performance.now() - startedMs) };
    },
    close() {
      isClosed = true;
      for (const abort of inFlight) abort();
      agent.destroy();
    },
  };
}

function readTarget(text: string): Target | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  // Node would take it for "none given" and dial 443.
  if (url.port === '0') return undefined;
  return { url, host: withoutBrackets(url.hostname), port: url.port === '' ? 443 : Number(url.port) };
}
