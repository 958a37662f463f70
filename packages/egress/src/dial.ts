import type { TimeoutPhase } from '@herald/core';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { canonicalAddress, type AddressPolicy } from './address-policy.ts';
import { BlockedAddressError, EgressFailedError, LookupFailedError } from './egress-errors.ts';

/**
 * The addresses of a name, in the parts in which they come: those of each family, or all at once. A part may be empty.
 * Each rejects with an error of the resolver.
 */
export type Lookup = ((host: string) => readonly Promise<readonly string[]>[]) & {
  /** Whether the resolver is known to have answered nobody since then (`performance.now()`). */
  readonly isSilentSince?: (at: number) => boolean;
};

/** Makes connections to single addresses. There is one for each dialling. */
export type Connector = {
  /** Rejects, and leaves nothing open, when the signal is aborted. */
  readonly connect: (address: string, signal: AbortSignal) => Promise<Socket>;
  /** What a connection that is being made waits for. */
  readonly phase: () => 'connect' | 'proxy';
  /** Whether no other address can do better. */
  readonly isFinal: (error: unknown) => boolean;
};

export type DialOptions = {
  readonly host: string;
  readonly lookup: Lookup;
  /** Undefined: every address is allowed. */
  readonly policy: AddressPolicy | undefined;
  readonly connector: Connector;
};

/** What a request on a new connection waits for. `resolver` and `proxy`: the platform's own, which answers nobody. */
export type DialPhase = TimeoutPhase | 'resolver' | 'proxy';

/** How long the other family may be waited for once one has an address, in ms (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;
/**
 * How long a family that has not answered is waited for once nothing else is left to dial, in ms. A question whose packet
 * was lost is asked again after 2 s; a server that is silent must not hold a slot for long.
 */
const LAST_FAMILY_MS = 2_500;
/** How long one address is tried alone before the next is tried beside it, in ms (RFC 8305, section 5). */
const NEXT_ATTEMPT_MS = 250;
/** Addresses of one name that are dialled. More would be a way to make Herald dial for others. */
const MOST_ADDRESSES = 12;

/**
 * Connects to one of a name's addresses, as RFC 8305 ("Happy Eyeballs") says: attempts begin one after the other, and
 * each goes on until one is connected. All addresses that have come are judged before the first is dialled, and one that
 * is forbidden forbids the name. What comes later is judged before it is dialled.
 */
export function dial({ host, lookup, policy, connector }: DialOptions) {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  let phase: DialPhase = 'lookup';
  let isOver = false;
  let connected: Socket | undefined;
  let calledAddress: string | undefined;
  let securedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const startedAt = performance.now();
  let dialled = 0;
  const queue: string[] = [];
  const attempts = new Set<AbortController>();
  const errors: unknown[] = [];
  /** Families that have not answered, once the first addresses are there. */
  let outstanding = 0;
  /** Set while nothing but these is left. */
  let lastWait: NodeJS.Timeout | undefined;

  const opened = promise.finally(() => {
    clearTimeout(timer);
    clearTimeout(lastWait);
    for (const attempt of attempts) attempt.abort();
  });
  // Whoever has closed it doesn't ask.
  opened.catch(() => undefined);
  findAddresses(host, lookup, policy).then(({ addresses, later }) => {
    queue.push(...inOrder(addresses));
    outstanding = later.length;
    for (const part of later) {
      part.then((more) => {
        outstanding--;
        queue.push(...inOrder(more));
        if (timer === undefined && !isOver) next();
      }, fail);
    }
    if (!isOver) next();
  }, fail);
  return {
    /** Rejects with what kept the address that got furthest from a connection. */
    opened,
    phase(): DialPhase {
      if (phase === 'lookup') return lookup.isSilentSince?.(startedAt) ? 'resolver' : 'lookup';
      return phase === 'connect' ? connector.phase() : phase;
    },
    /** The one that was connected to, also through a proxy; undefined before. */
    address: (): string | undefined => calledAddress,
    /** Bytes that came over the connection, under TLS. */
    bytesRead: (): number => connected?.bytesRead ?? 0,
    /** TLS is ready. */
    secured(): void {
      phase = 'response';
      securedAt = performance.now();
    },
    /** How long TLS has been ready, in ms; 0 before. */
    securedMs: (): number => (securedAt === undefined ? 0 : performance.now() - securedAt),
    /** What came of all addresses while a family is waited for that has not answered; undefined at other times. */
    failed: (): Error | undefined =>
      lastWait === undefined || attempts.size > 0 || isOver ? undefined : (furthest(errors) as Error),
    /** Gives up unless it is open. */
    close(reason = new Error('nobody waits for the connection any more')): void {
      fail(reason);
    },
  };

  function fail(error: unknown): void {
    isOver = true;
    reject(error);
  }

  function next(): void {
    clearTimeout(timer);
    timer = undefined;
    const address = dialled < MOST_ADDRESSES ? queue.shift() : undefined;
    if (address === undefined) {
      if (attempts.size > 0) return;
      if (outstanding === 0 || dialled === MOST_ADDRESSES) fail(furthest(errors));
      else
        lastWait ??= setTimeout(() => {
          fail(furthest(errors));
        }, LAST_FAMILY_MS);
      return;
    }
    clearTimeout(lastWait);
    phase = 'connect';
    dialled++;
    timer = setTimeout(next, NEXT_ATTEMPT_MS);
    void attempt(address);
  }

  async function attempt(address: string): Promise<void> {
    const giveUp = new AbortController();
    attempts.add(giveUp);
    try {
      const socket = await connector.connect(address, giveUp.signal);
      attempts.delete(giveUp);
      if (isOver) {
        socket.destroy();
        return;
      }
      isOver = true;
      connected = socket;
      calledAddress = address;
      phase = 'tls';
      resolve(socket);
    } catch (error) {
      errors.push(error);
      attempts.delete(giveUp);
      if (connector.isFinal(error)) fail(error);
      else if (!isOver) next();
    }
  }
}
export type Dialling = ReturnType<typeof dial>;

/** A family that has not answered. Its addresses come later: none if one of them is forbidden. Never rejects. */
type LaterPart = Promise<readonly string[]>;

/**
 * The addresses of a host that have come once it may be dialled: when there is one, and the other family has had its
 * time.
 * @throws BlockedAddressError when one of them is forbidden
 * @throws LookupFailedError when there is none
 */
async function findAddresses(
  host: string,
  lookup: Lookup,
  policy: AddressPolicy | undefined,
): Promise<{ readonly addresses: readonly string[]; readonly later: readonly LaterPart[] }> {
  if (isIP(host) !== 0) return { addresses: [host], later: [] };
  const parts = lookup(host);
  const waiting = new Set(parts);
  const found: string[] = [];
  const errors: Error[] = [];
  const { promise: isEnough, resolve: enough } = Promise.withResolvers<undefined>();
  let timer: NodeJS.Timeout | undefined;
  for (const part of parts) {
    const take = (addresses: readonly string[]): void => {
      waiting.delete(part);
      found.push(...addresses);
      if (waiting.size === 0) enough(undefined);
      else if (found.length > 0) timer ??= setTimeout(enough, RESOLUTION_DELAY_MS, undefined);
    };
    part.then(take, (error: unknown) => {
      errors.push(error as Error);
      take([]);
    });
  }
  if (parts.length === 0) enough(undefined);
  await isEnough;
  clearTimeout(timer);
  const addresses = [...found];
  if (addresses.length === 0) throw noAddress(host, errors);
  const isAllowed = (address: string): boolean => policy?.isAllowed(address) !== false;
  const refused = addresses.find((address) => !isAllowed(address));
  if (refused !== undefined) throw new BlockedAddressError(`${host} has the address ${refused}`);
  const later = [...waiting].map((part) =>
    part.then(
      // Nobody has asked for these: a forbidden one among them is not dialled, and neither are the others.
      (more) => (more.every(isAllowed) ? more : []),
      () => [],
    ),
  );
  return { addresses, later };
}

/** Prefers any error to "no such record", which is normal for one of the two families. */
function noAddress(host: string, errors: readonly NodeJS.ErrnoException[]): Error {
  const own = errors.find((error) => error instanceof EgressFailedError);
  if (own) return own;
  const cause = errors.find(({ code }) => code !== 'ENODATA') ?? errors[0];
  if (cause === undefined) return new LookupFailedError(`${host} has no address`);
  return new LookupFailedError(`${host}: ${cause.message}`, { cause });
}

/**
 * IPv4 first, then the families in turn: operators know the IPv4 address by which their workers go out, and customers
 * have it in their lists. What the machine has no address for comes last.
 */
function inOrder(addresses: readonly string[]): readonly string[] {
  const v4 = addresses.filter((address) => isIP(address) === 4);
  const v6 = addresses.filter((address) => isIP(address) === 6);
  if (v4.length === 0 || v6.length === 0) return addresses;
  const has = familiesOfMachine();
  if (!has.IPv6) return [...v4, ...v6];
  if (!has.IPv4) return [...v6, ...v4];
  return Array.from({ length: Math.max(v4.length, v6.length) }, (_, index) => [v4[index], v6[index]])
    .flat()
    .filter((address) => address !== undefined);
}

/** The families for which the machine has an address beyond itself and its links. */
function familiesOfMachine() {
  const has = { IPv4: false, IPv6: false };
  for (const { family, internal, address } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    if (!internal && !address.startsWith('fe80:')) has[family] = true;
  }
  return has;
}

/** How far an attempt got: a machine that refuses is there, and one to which no route leads may not be. */
const FURTHER = ['ENETUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EHOSTUNREACH', 'ERR_PROXY_FAILED', 'ETIMEDOUT'];

/** The error of the address that got furthest; of several the first. */
function furthest(errors: readonly unknown[]): unknown {
  const rankOf = (error: unknown): number => {
    const index = FURTHER.indexOf(String((error as NodeJS.ErrnoException).code));
    return index === -1 ? FURTHER.length : index;
  };
  return errors.reduce((best, error) => (rankOf(error) > rankOf(best) ? error : best));
}

/** What the system says of an address to which it has no route. A router on the way may say so too. */
const NO_ROUTE = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL']);

/**
 * Connects without a proxy.
 * @param findRoute whether a route leads anywhere at all; undefined: that doesn't matter
 */
export function createDirectConnector(
  port: number,
  {
    keepAliveMs,
    findRoute,
  }: { readonly keepAliveMs?: number; readonly findRoute?: (() => Promise<boolean>) | undefined } = {},
): Connector {
  return {
    async connect(address, signal) {
      try {
        return await connectDirectly(address, port, signal, keepAliveMs);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? '';
        if (!NO_ROUTE.has(code) || findRoute === undefined || (await findRoute())) throw error;
        throw new EgressFailedError('no_route', code);
      }
    },
    phase: () => 'connect',
    isFinal: (error) => error instanceof BlockedAddressError || error instanceof EgressFailedError,
  };
}

async function connectDirectly(
  address: string,
  port: number,
  signal: AbortSignal,
  keepAliveMs: number | undefined,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connectTcp({
    host: address,
    port,
    noDelay: true,
    ...(keepAliveMs !== undefined && { keepAlive: true, keepAliveInitialDelay: keepAliveMs }),
  });
  signal.addEventListener('abort', () => {
    socket.destroy();
    reject(new Error('another address was quicker, or nobody waits any more'));
  });
  // The listener stays: whoever gets the connection hears of its end in another way.
  socket.on('error', reject);
  socket.once('connect', () => {
    const peer = socket.remoteAddress;
    // The peer may differ: `0.0.0.0` reaches the machine itself, and a firewall may redirect. It gets no byte.
    if (peer !== undefined && canonical(peer) !== canonical(address)) {
      socket.destroy(new BlockedAddressError(`${peer} answered and is not what was dialled`));
    } else if (peer === undefined) {
      socket.destroy(Object.assign(new Error('the peer left while it was being connected'), { code: 'ECONNRESET' }));
    } else {
      resolve(socket);
    }
  });
  try {
    return await promise;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function canonical(address: string): string {
  return canonicalAddress(address) ?? address;
}
