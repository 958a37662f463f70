import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import type { Socket } from 'node:net';
import type { UnreachableReason } from '@herald/core';
import { createProxyClient } from './ask-proxy.ts';
import { createLookup } from './create-lookup.ts';
import { createTrust } from './create-trust.ts';
import { DestinationUnreachedError, ProxyFailedError, type ProxyFailure } from './egress-errors.ts';
import { createGate, type GateReport } from './gate.ts';
import type { ProxyAddress } from './proxy-url.ts';

export type ProxyOptions = {
  readonly address: ProxyAddress;
  /** An authority to trust besides the usual ones, in PEM; for a proxy with `https:`. */
  readonly caPem?: string | undefined;
  readonly report: GateReport<ProxyFailedError>;
};

export type TunnelQuestion = {
  readonly signal: AbortSignal;
  /** Called when the proxy is reached and is asked for the tunnel. */
  readonly onReached: () => void;
};

/** How long a look at the proxy waits for its answer, in ms. */
const LOOK_LIMIT_MS = 5_000;

/** The proxy tried, and the destination is away: the receiver's fault, as it would be without a proxy. */
const UNREACHED: ReadonlyMap<number, UnreachableReason> = new Map<number, UnreachableReason>([
  [502, 'connection_failed'],
  [503, 'connection_failed'],
  [504, 'host_unreachable'],
]);

/** These don't depend on the destination: nothing goes out. */
const CONCERNS_ALL: ReadonlySet<ProxyFailure> = new Set([
  'lookup_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'unauthenticated',
]);

/** A look asks for no tunnel, so it can't tell whether the proxy knows this worker again. */
export const proxyGateRules = {
  concernsAll: ({ reason }: ProxyFailedError): boolean => CONCERNS_ALL.has(reason),
  outlastsLooks: ({ reason }: ProxyFailedError): boolean => reason === 'unauthenticated',
};

/** The platform's own proxy, through which everything goes out. */
export function createProxy({ address, caPem, report }: ProxyOptions) {
  const ask = createProxyClient({
    address,
    secureContext: address.isTls ? createTrust(caPem) : undefined,
    // The resolvers for destinations need not know the proxy.
    lookup: createLookup({ bySystem: true }),
  });
  const closing = new AbortController();
  let answeredAt = -Infinity;
  const noteAnswer = (): void => {
    answeredAt = performance.now();
  };

  /**
   * Whether the proxy answers when it is asked for nothing but itself (RFC 9110 section 7.6.2). To hang up is an answer
   * too. Rejects with a `ProxyFailedError` when it isn't even reached.
   */
  const lookOnce = async (): Promise<boolean> => {
    const question = { isReached: false };
    try {
      const { socket } = await ask({
        method: 'OPTIONS',
        path: '*',
        headers: { 'max-forwards': '0' },
        answerWithinMs: LOOK_LIMIT_MS,
        signal: closing.signal,
        onReached: () => {
          question.isReached = true;
        },
      });
      socket.destroy();
    } catch (error) {
      if (!question.isReached || !(error instanceof ProxyFailedError)) throw error;
      if (error.reason === 'timed_out') return false;
    }
    noteAnswer();
    return true;
  };
  const look = oneAtATime(lookOnce);
  const gate = createGate({ ...proxyGateRules, look, report });

  return {
    isOpen: gate.isOpen,
    watch: gate.watch,
    failure: gate.failure,
    isDoubted: gate.isDoubted,
    failed: gate.failed,

    /**
     * A connection to exactly this address: see `toAuthority`.
     * @throws ProxyFailedError, DestinationUnreachedError, or the reason of the signal
     */
    async connect(authority: string, question: TunnelQuestion): Promise<Socket> {
      const { status, socket } = await ask({ method: 'CONNECT', path: authority, ...question });
      noteAnswer();
      if (status >= 200 && status < 300) {
        gate.worked();
        return socket;
      }
      socket.destroy();
      const reason = UNREACHED.get(status);
      if (reason === undefined) {
        throw new ProxyFailedError(status === 407 ? 'unauthenticated' : 'refused', `status ${status}`);
      }
      gate.worked();
      throw new DestinationUnreachedError(reason, status);
    },

    /** Whether it has answered anybody since then (`performance.now()`). */
    hasAnsweredSince: (at: number): boolean => answeredAt >= at,

    /** Finds out whether it still answers, for `hasAnsweredSince`. */
    lookNow(): void {
      look().catch(() => undefined);
    },

    /** May be called twice. */
    close(): void {
      gate.close();
      closing.abort();
    },
  };
}
export type EgressProxy = ReturnType<typeof createProxy>;
