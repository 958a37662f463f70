import { isIPv6 } from 'node:net';
import { canonicalAddress, type AddressPolicy } from './address-policy.ts';
import { BLOCKED_PORTS } from './blocked-ports.ts';
import type { EgressProxy } from './create-proxy.ts';
import type { Connector } from './dial.ts';
import { BlockedAddressError, ProxyFailedError } from './egress-errors.ts';

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
