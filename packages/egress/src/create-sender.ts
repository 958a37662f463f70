import type { AttemptOutcome } from '@herald/core';
import { VERSION } from '@herald/runtime/version';
import type { GuardedAgent } from './guarded-agent.ts';
import { withoutBrackets } from './judge-url-host.ts';
import { startExchange, type Exchange, type ExchangeEnd, type Target } from './start-exchange.ts';

export type SendRequest = {
  /** A url that is not `https:` is blocked: registration lets none in, and a delivery to it must end all the same. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type SendResult = {
  readonly outcome: AttemptOutcome;
  readonly durationMs: number;
  /** The address that was connected to, also through a proxy. Absent: there was no connection. */
  readonly address?: string | undefined;
  /** For operators: the code of c-ares, OpenSSL, Node or the system. Customers don't see it. */
  readonly causeCode?: string | undefined;
};

export type SenderOptions = {
  /** The sender owns it: `close` closes it. */
  readonly agent: GuardedAgent;
  /** From the first look-up to the last byte read, in ms. */
  readonly deadlineMs: number;
};

type Ended = Omit<SendResult, 'durationMs'>;
const ABORTED: Ended = { outcome: { kind: 'aborted' } };
const BLOCKED: Ended = { outcome: { kind: 'blocked' } };

/**
 * A send under way, emptied when it ends. The Set below holds nothing else: a Set leaves its former table behind when it
 * grows or shrinks, and V8 keeps all that this leads to until its next full collection.
 */
type Running = { exchange?: Exchange | undefined; readonly signal: AbortSignal | undefined };

export function createSender({ agent, deadlineMs }: SenderOptions) {
  const inFlight = new Set<Running>();
  const followed = new WeakSet<AbortSignal>();
  let isClosed = false;

  /**
   * Has one listener for all sends that a signal cuts off, as long as the signal lives: a listener that was removed still
   * leads to the next one, which V8 keeps likewise.
   */
  function follow(signal: AbortSignal): void {
    if (followed.has(signal)) return;
    followed.add(signal);
    signal.addEventListener('abort', () => {
      for (const running of inFlight) if (running.signal === signal) running.exchange?.abort();
    });
  }

  async function attempt(target: Target, request: SendRequest, signal?: AbortSignal): Promise<Ended> {
    const { body } = request;
    const headers = toHeaderList({ ...toRequestHeaders(target.url, body.length), ...request.headers });
    const startedMs = performance.now();
    const isStopped = () => isClosed || signal?.aborted === true;
    if (isStopped()) return ABORTED;

    const running: Running = { signal };
    inFlight.add(running);
    if (signal) follow(signal);
    const exchangeWithin = async (timeoutMs: number): Promise<ExchangeEnd> => {
      running.exchange = startExchange(agent, { target, headers, body, timeoutMs });
      return await running.exchange.ended;
    };
    try {
      const ended = await exchangeWithin(deadlineMs);
      const remainingMs = Math.ceil(deadlineMs - (performance.now() - startedMs));
      if (ended.repeat === undefined || remainingMs <= 0) return ended;
      if (isStopped()) return ABORTED;
      if (ended.repeat === 'kept') agent.dropIdle(target);
      return await exchangeWithin(remainingMs);
    } finally {
      running.exchange = undefined;
      inFlight.delete(running);
    }
  }

  return {
    /**
     * Makes one attempt: a POST, and one more on a new connection when a kept one turns out to be dead or a new one is
     * closed at once, all within the deadline. Resolves whatever the receiver does; rejects only on an internal error.
     */
    send: async (request: SendRequest, signal?: AbortSignal): Promise<SendResult> => {
      const startedMs = performance.now();
      const target = readTarget(request.url);
      const { outcome, causeCode, address } = target ? await attempt(target, request, signal) : BLOCKED;
      const durationMs = Math.round(performance.now() - startedMs);
      return {
        outcome,
        durationMs,
        ...(address !== undefined && { address }),
        ...(causeCode !== undefined && { causeCode }),
      };
    },
    /** Ends the sends in flight, as `aborted` where no status has come, and closes the agent. May be called twice. */
    close: (): void => {
      isClosed = true;
      for (const { exchange } of inFlight) exchange?.abort();
      agent.destroy();
    },
  };
}
export type Sender = ReturnType<typeof createSender>;

/**
 * Names and values in turns: Node checks and writes them as they are, and makes no map of them. `Host` comes first, and
 * names have the usual capitals: some servers read no others.
 */
function toHeaderList(headers: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  for (const name of Object.keys(headers)) list.push(capitalize(name), headers[name] ?? '');
  return list;
}

/** Names that were capitalized before. Tenants choose some. */
const CAPITALIZED = new Map<string, string>();
const MOST_NAMES = 1_000;

function capitalize(name: string): string {
  const known = CAPITALIZED.get(name);
  if (known !== undefined) return known;
  const capitalized = name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
  if (CAPITALIZED.size < MOST_NAMES) CAPITALIZED.set(name, capitalized);
  return capitalized;
}

function readTarget(text: string): Target | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined;
  // Node takes port 0 for no port, and dials 443.
  if (url.port === '0') return undefined;
  return { url, host: withoutBrackets(url.hostname), port: url.port === '' ? 443 : Number(url.port) };
}

/**
 * The headers that every request gets besides its own. Node adds only those of the connection. Without a url or a body,
 * those that follow from it are left out.
 * @param bodyBytes length of the body
 */
export function toRequestHeaders(url?: URL | null, bodyBytes?: number) {
  return {
    ...(url && { host: url.host }),
    accept: '*/*',
    'user-agent': `Herald/${VERSION}`,
    ...(bodyBytes !== undefined && { 'content-length': String(bodyBytes) }),
  };
}
