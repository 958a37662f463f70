import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Credentials } from './start-loopback-server.ts';

/** What a proxy does when it is asked for a tunnel: it makes one, or something with the connection. */
export type ProxyAnswer = 'tunnel' | ((socket: Socket) => void);

export interface ProxyOptions {
  /** With them the proxy speaks TLS. */
  credentials?: Credentials;
  /** As in a url: `user:password`. Others get a 407. */
  login?: string;
  /** Default: a tunnel. */
  answer?: (authority: string) => ProxyAnswer;
  /** Where a tunnel really leads; default: where it was asked for. */
  route?: (authority: string) => { host: string; port: number };
}

/** A CONNECT proxy on loopback that notes what it was asked for. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /** For `EGRESS_PROXY_URL`, with the login. */
  readonly url: string;
  /** The targets of all tunnels that it was asked for. */
  readonly asked: string[];
  /** The requests themselves, head only. */
  readonly requests: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>[];
  /** Its own connections to destinations. */
  readonly outgoing: Socket[];
  /** Connections to it that are open now. */
  readonly open: ReadonlySet<Socket>;
  answer: (authority: string) => ProxyAnswer;
  /** Whether it answers requests other than CONNECT. */
  isTalking: boolean;
  /** Listens no more, and cuts off every connection. */
  stop(): Promise<void>;
  /** Listens again, at the same port. */
  start(): Promise<void>;
}

export async function startProxy(options: ProxyOptions = {}): Promise<Proxy> {
  const { credentials, login, route = readAuthority } = options;
  const open = new Set<Socket>();
  const expected = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const server = credentials ? createHttpsServer(credentials) : createHttpServer();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
  });
  const note = ({ method, url, rawHeaders }: IncomingMessage) => proxy.requests.push({ method, url, rawHeaders });
  server.on('request', (request, response) => {
    note(request);
    if (proxy.isTalking) response.writeHead(200).end();
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    const { url: authority = '', headers } = request;
    note(request);
    socket.on('error', () => undefined);
    if (expected !== undefined && headers['proxy-authorization'] !== expected) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n');
      return;
    }
    proxy.asked.push(authority);
    const answer = proxy.answer(authority);
    if (answer === 'tunnel') {
      tunnel(socket, authority);
    } else {
      // Otherwise it would not notice that the other side hangs up.
      socket.resume().once('end', () => socket.destroy());
      answer(socket);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of [...open, ...proxy.outgoing]) socket.destroy();
    await closed;
  };
  const port = await listen(0);
  const proxy: Proxy = {
    port,
    url: `${credentials ? 'https' : 'http'}://${login === undefined ? '' : `${login}@`}127.0.0.1:${port}`,
    asked: [],
    requests: [],
    outgoing: [],
    open,
    answer: options.answer ?? (() => 'tunnel'),
    isTalking: true,
    stop,
    start: async () => {
      await listen(port);
    },
    [Symbol.asyncDispose]: stop,
  };
  return proxy;

  function tunnel(socket: Socket, authority: string): void {
    const outgoing = connect(route(authority));
    proxy.outgoing.push(outgoing);
    outgoing.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(outgoing).pipe(socket);
    });
    outgoing.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    outgoing.once('close', () => socket.destroy());
    socket.once('close', () => outgoing.destroy());
  }
}

function readAuthority(authority: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^\[?([^\]]*?)\]?:(\d+)$/.exec(authority) ?? [];
  return { host, port: Number(port) };
}
