import { once } from 'node:events';
import { request as startRequest, type IncomingMessage } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket, type SecureContext } from 'node:tls';
import type { UnreachableReason } from '@herald/core';
import { oneAtATime } from '@herald/runtime/async';
import { canonicalAddress, type AddressPolicy } from './address-policy.ts';
import { createTrust } from './create-trust.ts';
import { createLookup } from './create-lookup.ts';
import { createDirectConnector, dial, type Connector, type Lookup } from './dial.ts';
import type { ProxyAddress } from './egress-env.ts';
import {
  BlockedAddressError,
  DestinationUnreachedError,
  LookupFailedError,
  ProxyFailedError,
  type ProxyFailure,
} from './egress-errors.ts';
import { createGate, type GateReport } from './gate.ts';
import { judgeTlsFailure } from './judge-failure.ts';
import { BLOCKED_PORTS } from './judge-url-host.ts';

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
    carried: gate.carried,

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

export type ProxyClientDeps = {
  readonly address: ProxyAddress;
  /** For a proxy with TLS. */
  readonly secureContext: SecureContext | undefined;
  readonly lookup: Lookup;
};

export type ProxyQuestion = {
  readonly method: 'CONNECT' | 'OPTIONS';
  /** The target of the request line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the proxy may take to answer once it is reached, in ms; default: until `signal`. */
  readonly answerWithinMs?: number | undefined;
  readonly signal: AbortSignal;
  /** Called when the proxy is reached and the request goes out. */
  readonly onReached?: () => void;
};

export type ProxyAnswer = {
  readonly status: number;
  /** After the headers. Whoever asked closes it. */
  readonly socket: Socket;
};

/** Limits look-up, connection and TLS of the proxy together, in ms. */
const DIAL_LIMIT_MS = 5_000;
/** Of the proxy's answer nothing but the headers is read, and no more than this of them. */
const HEADER_LIMIT_BYTES = 16 * 1_024;

/**
 * Sends a request to the proxy itself, over a connection of its own. Node's client writes the request and reads the
 * answer. Rejects with a `ProxyFailedError`, or with the reason of `signal`.
 */
export function createProxyClient({ address, secureContext, lookup }: ProxyClientDeps) {
  const { isTls, host, port, authorization } = address;

  /** The guard does not judge the proxy: the operator chose it. */
  const reach = async (signal: AbortSignal): Promise<Socket> => {
    const dialling = dial({ host, lookup, policy: undefined, connector: createDirectConnector(port) });
    let socket: Socket | undefined;
    const giveUp = (reason: Error): void => {
      dialling.close(reason);
      socket?.destroy(reason);
    };
    const timer = setTimeout(giveUp, DIAL_LIMIT_MS, new ProxyFailedError('timed_out'));
    const onAbort = (): void => {
      giveUp(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort);
    try {
      socket = await dialling.opened;
      if (!isTls) return socket;
      const servername = isIP(host) === 0 ? host : '';
      const overTls = connectTls({
        host,
        port,
        socket,
        servername,
        secureContext,
        rejectUnauthorized: true,
        checkServerIdentity,
      });
      socket = overTls;
      await once(overTls, 'secureConnect');
      return overTls;
    } catch (error) {
      socket?.destroy();
      throw signal.aborted ? signal.reason : judgeProxyFailure(error as Error, false, socket);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };

  return async function askProxy(question: ProxyQuestion): Promise<ProxyAnswer> {
    const { method, path, headers, answerWithinMs, signal, onReached } = question;
    signal.throwIfAborted();
    const socket = await reach(signal);
    const { promise, resolve, reject } = Promise.withResolvers<ProxyAnswer>();
    const timer =
      answerWithinMs === undefined
        ? undefined
        : setTimeout(() => socket.destroy(new ProxyFailedError('timed_out')), answerWithinMs);
    onReached?.();
    // Node's client forgets the socket when a tunnel begins. Whoever uses it then hears of its end in another way.
    socket.on('error', () => undefined);

    const request = startRequest({
      method,
      path,
      headers: {
        host: path === '*' ? hostHeader(address) : path,
        ...headers,
        ...(authorization && { 'proxy-authorization': authorization }),
      },
      setHost: false,
      maxHeaderSize: HEADER_LIMIT_BYTES,
      signal,
      createConnection: () => socket,
    });
    // Without an agent, Node would ask for the end of the connection, and so of the tunnel.
    if (method === 'CONNECT') request.removeHeader('connection');
    const answered = ({ statusCode }: IncomingMessage): void => {
      resolve({ status: statusCode ?? 0, socket });
    };
    request.once('response', answered);
    request.once('connect', (answer, _socket, early: Buffer) => {
      // What a server says before TLS begins is for TLS to judge.
      if (early.length > 0) socket.unshift(early);
      answered(answer);
    });
    request.once('error', (error) => {
      reject(signal.aborted ? signal.reason : judgeProxyFailure(error, true, socket));
    });
    request.once('close', () => {
      reject(new ProxyFailedError('closed'));
    });
    request.end();
    try {
      return await promise;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

function hostHeader({ host, port }: ProxyAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function judgeProxyFailure(error: Error, isReached: boolean, socket: Socket | undefined): ProxyFailedError {
  if (error instanceof ProxyFailedError) return error;
  if (error instanceof LookupFailedError) return new ProxyFailedError('lookup_failed', codeOf(error.cause));
  const code = codeOf(error) ?? '';
  if (isReached) return new ProxyFailedError(code.startsWith('HPE_') ? 'malformed_answer' : 'closed', code);
  const certificateProblem = socket instanceof TLSSocket ? socket.authorizationError : undefined;
  const isTls = judgeTlsFailure(code, error.message, { certificateProblem }) !== undefined;
  return new ProxyFailedError(isTls ? 'tls_failed' : 'connect_failed', code);
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** How long the proxy may be silent before it is asked whether it is there, in ms. */
const LOOK_AFTER_MS = 500;

/**
 * Connects to addresses through tunnels of the proxy. A proxy that is silent may be dead, or waits for a dead
 * destination: that it answers somebody else meanwhile tells which.
 */
export function createTunnelConnector(proxy: EgressProxy, policy: AddressPolicy, port: number): Connector {
  let isReached = false;
  let askedAt = Infinity;
  return {
    async connect(address, signal) {
      const authority = toAuthority(policy, address, port);
      let timer: NodeJS.Timeout | undefined;
      const onReached = (): void => {
        isReached = true;
        askedAt = Math.min(askedAt, performance.now());
        timer = setTimeout(() => {
          if (!proxy.hasAnsweredSince(askedAt)) proxy.lookNow();
        }, LOOK_AFTER_MS);
      };
      try {
        return await proxy.connect(authority, { signal, onReached });
      } finally {
        clearTimeout(timer);
      }
    },
    phase: () => (isReached && proxy.hasAnsweredSince(askedAt) ? 'connect' : 'proxy'),
    // The proxy wasn't reached, or doesn't know this worker.
    isFinal: (error) =>
      error instanceof BlockedAddressError ||
      (error instanceof ProxyFailedError && (!isReached || error.reason === 'unauthenticated')),
  };
}

/** They mean the machine that dials them: through a proxy, the proxy. */
const UNSPECIFIED = new Set(['0.0.0.0', '::']);

/**
 * What a proxy is asked for: `203.0.113.7:443`, `[2001:db8::1]:443`. This is the last check before the request, and the
 * only place where its target is made: the peer of a tunnel can't be checked any more. Of the address nothing is kept
 * but its value.
 * @throws BlockedAddressError unless the policy allows the address, and the port may be dialled
 */
export function toAuthority(policy: AddressPolicy, address: string, port: number): string {
  const canonical = canonicalAddress(address);
  // A zone selects an interface of this machine, and the proxy is another.
  const isUsable = canonical !== undefined && !canonical.includes('%') && !UNSPECIFIED.has(canonical);
  if (!isUsable || !policy.isAllowed(canonical)) throw new BlockedAddressError(`${address} is not allowed`);
  if (!Number.isInteger(port) || port < 1 || port > 65_535 || BLOCKED_PORTS.has(port)) {
    throw new BlockedAddressError(`port ${port} is not allowed`);
  }
  return `${isIPv6(canonical) ? `[${canonical}]` : canonical}:${port}`;
}
