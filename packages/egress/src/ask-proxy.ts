import { request as startRequest, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket, type SecureContext } from 'node:tls';
import { ProxyFailedError } from './egress-errors.ts';
import { judgeTlsFailure } from './judge-tls-failure.ts';
import type { ProxyAddress } from './proxy-url.ts';

export type ProxyClientDeps = {
  readonly address: ProxyAddress;
  /** For a proxy with TLS. */
  readonly secureContext: SecureContext | undefined;
  readonly lookup: LookupFunction;
  /** How long an address of the proxy may take before its next one is tried, in ms. */
  readonly nextAddressAfterMs: number;
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
export function createProxyClient({ address, secureContext, lookup, nextAddressAfterMs }: ProxyClientDeps) {
  const { isTls, host, port, authorization } = address;

  const dial = (): Socket => {
    const settings = {
      host,
      port,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
      noDelay: true,
    };
    if (!isTls) return connectTcp(settings);
    const servername = isIP(host) === 0 ? host : '';
    return connectTls({ ...settings, servername, secureContext, rejectUnauthorized: true, checkServerIdentity });
  };

  return async function askProxy(question: ProxyQuestion): Promise<ProxyAnswer> {
    const { method, path, headers, answerWithinMs, signal, onReached } = question;
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<ProxyAnswer>();
    const socket = dial();
    let isReached = false;
    const giveUp = (): void => {
      socket.destroy(new ProxyFailedError('timed_out'));
    };
    let timer = setTimeout(giveUp, DIAL_LIMIT_MS);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      isReached = true;
      clearTimeout(timer);
      if (answerWithinMs !== undefined) timer = setTimeout(giveUp, answerWithinMs);
      onReached?.();
    });
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
      reject(signal.aborted ? signal.reason : judgeProxyFailure(error, isReached, socket));
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

function judgeProxyFailure(error: Error, isReached: boolean, socket: Socket): ProxyFailedError {
  if (error instanceof ProxyFailedError) return error;
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  if (isReached) return new ProxyFailedError(code.startsWith('HPE_') ? 'malformed_answer' : 'closed', code);
  if (syscall === 'getaddrinfo') return new ProxyFailedError('lookup_failed', code);
  const certificateProblem = socket instanceof TLSSocket ? socket.authorizationError : undefined;
  const isTls = judgeTlsFailure(code, error.message, certificateProblem) !== undefined;
  return new ProxyFailedError(isTls ? 'tls_failed' : 'connect_failed', code);
}
