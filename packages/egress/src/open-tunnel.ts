import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import type { AddressPolicy } from './address-policy.ts';
import type { EgressProxy } from './create-proxy.ts';
import { DeadlinePassedError, ProxyFailedError } from './egress-errors.ts';
import { NEXT_ADDRESS_AFTER_MS } from './next-address.ts';
import { toAuthority } from './tunnel-authority.ts';

export type TunnelDeps = {
  readonly proxy: EgressProxy;
  readonly policy: AddressPolicy;
  /** Of the destination. */
  readonly addresses: Promise<readonly string[]>;
  readonly port: number;
  /** Limits all of it. */
  readonly timeoutMs: number;
};

/**
 * What a request waits for: the look-up, the proxy itself, the proxy's connection to the destination, TLS, or nothing
 * any more.
 */
export type TunnelPhase = 'lookup' | 'proxy' | 'connect' | 'tls' | 'open';

/** How long the proxy may be silent before it is asked whether it is there, in ms. */
const LOOK_AFTER_MS = 500;

/**
 * Asks the proxy for a tunnel to one of the checked addresses, one after the other. A proxy that is silent may be dead,
 * or waits for a dead destination: that it answers somebody else meanwhile tells which.
 */
export function openTunnel({ proxy, policy, addresses: found, port, timeoutMs }: TunnelDeps) {
  const closing = new AbortController();
  const { signal } = closing;
  const closed = once(signal, 'abort').then((): never => {
    throw signal.reason;
  });
  closed.catch(() => undefined);
  // Node tells a request nothing before it has a socket, not even that it was given up.
  const deadline = setTimeout(() => {
    closing.abort(new DeadlinePassedError('the deadline passed before the tunnel was open'));
  }, timeoutMs);
  let phase: TunnelPhase = 'lookup';
  let askedAt = Infinity;

  const tryAddress = async (address: string, answerWithinMs: number | undefined): Promise<Socket> => {
    const authority = toAuthority(policy, address, port);
    let timer: NodeJS.Timeout | undefined;
    const onReached = (): void => {
      phase = 'connect';
      askedAt = Math.min(askedAt, performance.now());
      timer = setTimeout(() => {
        if (!proxy.hasAnsweredSince(askedAt)) proxy.lookNow();
      }, LOOK_AFTER_MS);
    };
    try {
      return await proxy.connect(authority, { answerWithinMs, signal, onReached });
    } finally {
      clearTimeout(timer);
    }
  };

  const open = async (): Promise<Socket> => {
    const addresses = alternate(await Promise.race([found, closed]));
    for (const [index, address] of addresses.entries()) {
      const isLast = index === addresses.length - 1;
      phase = 'proxy';
      try {
        const socket = await tryAddress(address, isLast ? undefined : NEXT_ADDRESS_AFTER_MS);
        phase = 'tls';
        return socket;
      } catch (error) {
        if (isLast || signal.aborted || isOfEveryAddress(error, phase)) throw error;
      }
    }
    throw new TypeError('a tunnel needs an address');
  };

  return {
    opened: open().finally(() => {
      clearTimeout(deadline);
    }),
    /** What it waits for now. */
    phase: (): TunnelPhase => (phase === 'connect' && !proxy.hasAnsweredSince(askedAt) ? 'proxy' : phase),
    /** TLS is ready. */
    secured: (): void => {
      phase = 'open';
    },
    /** The request ended by a fault of the proxy. */
    failed: proxy.failed,
    /** Gives up unless it is open. */
    close(): void {
      closing.abort();
    },
  };
}
export type Tunnel = ReturnType<typeof openTunnel>;

/** The proxy wasn't reached, or doesn't know this worker: another address changes nothing. */
function isOfEveryAddress(error: unknown, phase: TunnelPhase): boolean {
  if (!(error instanceof ProxyFailedError)) return false;
  return phase === 'proxy' || error.reason === 'unauthenticated';
}

/** Changes between the families, as Node does, so that a family that leads nowhere delays little. */
function alternate(addresses: readonly string[]): readonly string[] {
  const first = addresses.filter((address) => isIP(address) === isIP(addresses[0] ?? ''));
  const second = addresses.filter((address) => !first.includes(address));
  const longest = Math.max(first.length, second.length);
  return Array.from({ length: longest }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((address) => address !== undefined);
}
