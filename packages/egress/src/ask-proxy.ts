import { once } from 'node:events';
import { request as startRequest, type IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, TLSSocket, type SecureContext } from 'node:tls';
import { createDirectConnector, dial, type Lookup } from './dial.ts';
import { LookupFailedError, ProxyFailedError } from './egress-errors.ts';
import { judgeTlsFailure } from './judge-tls-failure.ts';
import type { ProxyAddress } from './proxy-url.ts';

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
