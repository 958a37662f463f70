import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createPlainServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';

/** A server on a loopback address that counts its connections and dies with its test. */
export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** All connections that were ever accepted. */
  readonly connections: Socket[];
  /** Settles when all accepted connections are closed. */
  allClosed(): Promise<void>;
}

/** A certificate, and what the server asks of TLS besides. */
export type Credentials = TlsOptions & {
  cert: string;
  key: string;
};

/** Answers over HTTPS. */
export function startHttps(
  credentials: Credentials,
  onRequest: RequestListener,
  host?: string,
): Promise<LoopbackServer> {
  return listen(createHttpsServer({ ...credentials, keepAliveTimeout: 60_000 }, onRequest), host);
}

/** Speaks TLS, and then the protocol of `onConnection`. */
export function startTls(credentials: Credentials, onConnection: (socket: TLSSocket) => void): Promise<LoopbackServer> {
  return listen(
    createTlsServer(credentials, (socket) => {
      socket.on('error', () => undefined);
      onConnection(socket);
    }),
  );
}

/** Speaks no TLS. */
export function startPlain(onConnection: (socket: Socket) => void): Promise<LoopbackServer> {
  return listen(createPlainServer(onConnection));
}

async function listen(server: Server, host = '127.0.0.1'): Promise<LoopbackServer> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const isOpen = (socket: Socket) => !socket.destroyed;
  return {
    port,
    url: `https://${host}:${port}/hook`,
    connections,
    async allClosed() {
      await Promise.all(connections.filter(isOpen).map((socket) => once(socket, 'close')));
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
