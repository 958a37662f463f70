import type { ClientRequest } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { everyBeat } from '@herald/runtime/beat';
import type { AddressPolicy } from './address-policy.ts';
import { createTrust } from './create-trust.ts';
import { createTunnelConnector, type EgressProxy } from './create-proxy.ts';
import { createDirectConnector, dial, type Dialling, type Lookup } from './dial.ts';
import { BlockedAddressError, EgressFailedError, ProxyFailedError, type OwnFaultError } from './egress-errors.ts';
import type { Gate } from './gate.ts';
import { BLOCKED_PORTS } from './judge-url-host.ts';

export type GuardedAgentOptions = {
  readonly policy: AddressPolicy;
  readonly lookup: Lookup;
  /** An authority to trust besides the usual ones, in PEM. */
  readonly caPem?: string | undefined;
  /** Everything goes through it. The agent owns it. Default: connections are made directly. */
  readonly proxy?: EgressProxy | undefined;
  /** Shut while this machine can send nothing. Default: nobody watches that. */
  readonly gate?: Gate<EgressFailedError> | undefined;
  /** Whether a route leads anywhere at all. Default: nobody asks. */
  readonly findRoute?: (() => Promise<boolean>) | undefined;
  /** How long an unused connection is kept, in ms; less when its server announces less. */
  readonly idleMs?: number;
  /**
   * Unused connections kept for one origin. Default: as many as one may use at once while a worker's other destinations
   * are quiet. With fewer, every lull between two answers closes some, and each new one costs a handshake at both ends.
   */
  readonly maxIdlePerOrigin?: number;
  /** Unused connections kept in all, each a descriptor and some 50 KB; the longest unused is closed first. */
  readonly maxIdle?: number;
  /**
   * How old a connection may get, in ms, and how many requests it may serve: a name that moves to another address must be
   * followed while its old one still answers.
   */
  readonly maxAgeMs?: number;
  readonly maxRequests?: number;
};

/** What a request may say to the agent. */
export type GuardedRequestOptions = RequestOptions & {
  /** Gets the dialling for this request, before it is open. Whoever gives the request up closes it. Kept connections need none. */
  readonly onDial?: (dialling: Dialling) => void;
};

/** What the agent knows of an open connection. */
type Connection = {
  readonly socket: Socket;
  /** What carries TLS. */
  readonly carrier: Socket;
  /** That of the destination, also through a proxy. */
  readonly address: string | undefined;
  readonly endsAt: number;
  requests: number;
  /** What had come under TLS when its last request ended. */
  bytesBefore: number;
  /** It takes no further request. */
  isRetired: boolean;
  reader: ConnectionReader | undefined;
};

/** What a request hears of its connection. */
export type ConnectionReader = {
  /** Gets what comes before Node's parser does, and may change the bytes in place. */
  readonly read: (bytes: Buffer) => void;
  /** The server sends without end what nobody asked for. The connection is closed next. */
  readonly flooded: () => void;
};

type Callback = (error: Error | null, socket: Duplex) => void;

/** Node's default of one second would have hundreds of unused connections probe their peers ten times in a row. */
const TCP_PROBE_AFTER_MS = 15_000;

const MAX_AGE_MS = 300_000;
const MAX_REQUESTS = 1_000;

/**
 * An HTTPS agent that dials only addresses that the policy allows. It resolves a name once per connection, checks each
 * address before it dials exactly that one (`dial`), and checks an address in the URL as it is. A refused request fails with
 * `BlockedAddressError`, a name without addresses with `LookupFailedError`. The agent always verifies certificates; no
 * option of a request and no environment variable changes that.
 */
export class GuardedAgent extends Agent {
  readonly #policy: AddressPolicy;
  readonly #lookup: Lookup;
  readonly #secureContext: SecureContext;
  readonly #sessions = createTlsSessions();
  readonly #proxy: EgressProxy | undefined;
  readonly #gate: Gate<EgressFailedError> | undefined;
  readonly #findRoute: (() => Promise<boolean>) | undefined;
  readonly #diallings = new Set<Dialling>();
  readonly #maxIdle: number;
  /** In the order in which they became idle. */
  readonly #idle = new Set<Duplex>();
  readonly #connections = new Map<Duplex, Connection>();
  #endOfWatch: (() => void) | undefined;
  readonly #maxAgeMs: number;
  readonly #maxRequests: number;

  constructor(options: GuardedAgentOptions) {
    const { policy, lookup, caPem, proxy, idleMs = 30_000, maxIdlePerOrigin = 50, maxIdle = 500 } = options;
    super({
      keepAlive: true,
      keepAliveMsecs: TCP_PROBE_AFTER_MS,
      timeout: idleMs,
      maxFreeSockets: maxIdlePerOrigin,
    });
    this.#policy = policy;
    this.#lookup = lookup;
    this.#proxy = proxy;
    this.#gate = options.gate;
    this.#findRoute = options.findRoute;
    this.#maxIdle = maxIdle;
    // What is kept may stay unused for so long, and then serve one more.
    this.#maxAgeMs = (options.maxAgeMs ?? MAX_AGE_MS) - idleMs;
    this.#maxRequests = options.maxRequests ?? MAX_REQUESTS;
    // After Node's own listener, which has kept the socket or destroyed it.
    this.on('free', (socket: Duplex) => {
      this.#admitIdle(socket);
    });
    this.#secureContext = createTrust(caPem);
  }

  /** Unused connections that are open now. */
  get idleCount(): number {
    return this.#idle.size;
  }

  /** Closes the unused connections to one origin: when one of them is stale, the others are too. */
  dropIdle(origin: { host: string; port: number }): void {
    for (const socket of this.freeSockets[this.getName(origin)]?.slice() ?? []) socket.destroy();
  }

  /** Two requests may share a connection when this is the same: every other TLS setting is the agent's own. */
  override getName(options: RequestOptions = {}): string {
    return `${options.host ?? ''}|${String(options.port ?? '')}`;
  }

  override createConnection(options: GuardedRequestOptions, callback: Callback): Duplex | undefined {
    const refusal = this.#refusalOf(options) ?? this.#ownFault();
    if (refusal !== undefined) {
      this.#fail(options, refusal, callback);
      return undefined;
    }
    const port = Number(options.port);
    const host = options.host ?? '';
    const dialling = dial({
      host,
      lookup: this.#lookup,
      policy: this.#policy,
      connector: this.#proxy
        ? createTunnelConnector(this.#proxy, this.#policy, port)
        : createDirectConnector(port, { keepAliveMs: TCP_PROBE_AFTER_MS, findRoute: this.#findRoute }),
    });
    this.#diallings.add(dialling);
    options.onDial?.(dialling);
    void dialling.opened
      .finally(() => this.#diallings.delete(dialling))
      .then(
        (connected) => {
          // No other option of the request is used: a `socket`, a `lookup` or a `pskCallback` would get past the checks.
          const origin = this.getName(options);
          const session = this.#sessions.find(origin);
          const socket = connectTls({
            host,
            port,
            socket: connected,
            servername: isIP(host) === 0 ? host : '',
            secureContext: this.#secureContext,
            // Otherwise a server that speaks HTTP/2 alone answers by chance.
            ALPNProtocols: ['http/1.1'],
            rejectUnauthorized: true,
            checkServerIdentity,
            ...(this.options.timeout !== undefined && { timeout: this.options.timeout }),
            ...(session && { session }),
          });
          if (this.#proxy) socket.setKeepAlive(true, TCP_PROBE_AFTER_MS);
          socket.once('secureConnect', () => {
            dialling.secured();
          });
          const connection = this.#know(socket, connected, dialling.address());
          this.#sessions.follow(socket, origin, () => {
            leave(connection);
          });
          callback(null, socket);
        },
        (error: unknown) => {
          this.#fail(options, error as Error, callback);
        },
      );
    return undefined;
  }

  /** A new connection to the origin ended by a fault that is no receiver's. */
  ownFault(error: OwnFaultError, origin: { host: string; port: number }): void {
    if (error instanceof ProxyFailedError) this.#proxy?.failed(error, this.getName(origin));
    if (error instanceof EgressFailedError) this.#gate?.failed(error);
  }

  /** A connection has answered. One that was kept says nothing of the resolver and the routes. */
  answered(isNew: boolean): void {
    if (isNew) this.#gate?.worked();
    this.#proxy?.carried();
  }

  /** The address of the destination, also through a proxy. */
  addressOf(socket: Duplex): string | undefined {
    return this.#connections.get(socket)?.address;
  }

  /** The connection ends with the request that it serves now. */
  retire(socket: Duplex): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.isRetired = true;
  }

  /** Shows what comes over a connection to the request that it serves, and to nobody once that has ended. */
  read(socket: Duplex, reader: ConnectionReader | undefined): void {
    const connection = this.#connections.get(socket);
    if (connection) connection.reader = reader;
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // Node destroys what is not kept.
    if (!this.#livesOn(socket)) return false;
    // oxlint-disable-next-line typescript/no-confusing-void-expression -- its types lack the answer
    return Boolean(super.keepSocketAlive(socket));
  }

  override destroy(): void {
    for (const dialling of this.#diallings) dialling.close();
    this.#proxy?.close();
    super.destroy();
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    this.#idle.delete(socket);
    super.reuseSocket(socket, request);
  }

  /** What is known to keep everybody from sending. */
  #ownFault(): OwnFaultError | undefined {
    for (const gate of [this.#gate, this.#proxy]) if (gate?.isOpen() === false) return gate.failure();
    return undefined;
  }

  #fail(options: RequestOptions, error: Error, callback: Callback): void {
    this.#forgetEmptyPool(options);
    // Node ignores the second argument when there is an error, but its type doesn't say so.
    callback(error, undefined as unknown as Duplex);
  }

  /** One listener for all requests: to add and remove one for each costs a send more than what it does. */
  #know(socket: Socket, carrier: Socket, address: string | undefined): Connection {
    const endsAt = performance.now() + this.#maxAgeMs;
    const began = { requests: 0, bytesBefore: 0, isRetired: false, reader: undefined };
    const connection: Connection = { socket, carrier, address, endsAt, ...began };
    this.#connections.set(socket, connection);
    this.#endOfWatch ??= startFloodWatch(this.#connections, leave);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#connections.delete(socket);
      if (this.#connections.size > 0) return;
      this.#endOfWatch?.();
      this.#endOfWatch = undefined;
    });
    socket.prependListener('data', (bytes: Buffer) => {
      // Nothing was asked: what comes now must not be taken for the next answer.
      if (this.#idle.has(socket)) socket.destroy();
      else connection.reader?.read(bytes);
    });
    return connection;
  }

  #livesOn(socket: Duplex): boolean {
    const connection = this.#connections.get(socket);
    if (!connection) return true;
    connection.requests++;
    const { isRetired, requests, endsAt } = connection;
    return !isRetired && requests < this.#maxRequests && performance.now() < endsAt;
  }

  #admitIdle(socket: Duplex): void {
    if (socket.destroyed) return;
    const [oldest] = this.#idle;
    if (oldest !== undefined && this.#idle.size >= this.#maxIdle) {
      this.#idle.delete(oldest);
      oldest.destroy();
    }
    this.#idle.add(socket);
    const connection = this.#connections.get(socket);
    if (connection) connection.bytesBefore = connection.carrier.bytesRead;
  }

  /** Node has made a pool for the socket that won't come, and would keep it for ever: one for each address refused. */
  #forgetEmptyPool(options: RequestOptions): void {
    const name = this.getName(options);
    if (this.sockets[name]?.length === 0) Reflect.deleteProperty(this.sockets, name);
  }

  #refusalOf({ host, port, socketPath }: RequestOptions): Error | undefined {
    if (socketPath) return new BlockedAddressError('a socket path is no destination');
    if (BLOCKED_PORTS.has(Number(port))) return new BlockedAddressError(`port ${Number(port)} is not allowed`);
    if (!host) return new TypeError('a request needs a host');
    // An address is not looked up.
    if (isIP(host) !== 0 && !this.#policy.isAllowed(host)) return new BlockedAddressError(`${host} is not allowed`);
    return undefined;
  }
}

/** Closes a connection over which too much comes that nobody asked for. Its request hears of it first. */
function leave({ reader, socket }: Connection): void {
  reader?.flooded();
  socket.destroy();
}

/**
 * Most that comes under TLS for a handshake and an answer, or for a rest and the next answer. What comes in records
 * without content (tickets, padding) is seen nowhere else, and takes the event loop as well.
 */
const FLOOD_BYTES = 1_048_576;
const LOOK_FOR_FLOODS_MS = 1_000;

/** @returns ends it */
export function startFloodWatch(
  open: ReadonlyMap<unknown, Connection>,
  onFlood: (connection: Connection) => void,
): () => void {
  return everyBeat(LOOK_FOR_FLOODS_MS, () => {
    for (const connection of open.values()) {
      if (connection.carrier.bytesRead - connection.bytesBefore > FLOOD_BYTES) onFlood(connection);
    }
  });
}

/** Sessions kept for resumption, one of an origin. They have some 2 KB each; Node passes on none of more than 10 KiB. */
const MOST_SESSIONS = 1_000;
/**
 * A server may give one session after the other, also while nothing was asked: a megabyte of them takes a quarter of a
 * second of the event loop. Servers give one or two.
 */
const MOST_GIVEN = 16;

/** The TLS sessions that servers gave. A resumed connection passes the guard like any other. */
function createTlsSessions() {
  const kept = new Map<string, Buffer>();
  return {
    find: (origin: string): Buffer | undefined => kept.get(origin),
    /**
     * Keeps the last session that comes over a connection, until one ends with an error.
     * @param onFlood called when the server gives more than any server needs to; it closes the connection
     */
    follow(socket: TLSSocket, origin: string, onFlood: () => void): void {
      let given = 0;
      socket.on('session', (session: Buffer) => {
        if (++given > MOST_GIVEN) {
          onFlood();
          return;
        }
        kept.delete(origin);
        const [oldest] = kept.keys();
        if (oldest !== undefined && kept.size >= MOST_SESSIONS) kept.delete(oldest);
        kept.set(origin, session);
      });
      socket.once('close', (hasFailed: boolean) => {
        if (hasFailed) kept.delete(origin);
      });
    },
  };
}
