import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { getCACertificates } from 'node:tls';
import { createAddressPolicy, type AddressRanges } from './address-policy.ts';
import { createLookup, type NameLookup, type NameSource } from './create-lookup.ts';
import type { EgressProxy } from './create-proxy.ts';
import { createSender } from './create-sender.ts';
import { EgressFailedError } from './egress-errors.ts';
import { createGate, type GateReport } from './gate.ts';
import { GuardedAgent } from './guarded-agent.ts';
import { NO_DESCRIPTORS } from './judge-failure.ts';

export type EgressConfig = AddressRanges & {
  /** An authority to trust besides the usual ones, in PEM. */
  readonly caPem?: string | undefined;
  readonly names: NameSource;
  /** Total deadline of one attempt, in ms. */
  readonly deadlineMs: number;
  /** Everything goes through it. The sender owns it. Undefined: connections are made directly. */
  readonly proxy?: EgressProxy | undefined;
  /** Hears when this machine itself can't send, and when it can again. */
  readonly report?: GateReport<EgressFailedError>;
};

/** Addresses of the public Internet, of a root server. Nothing is sent to them: only whether a route leads there is asked. */
const PUBLIC_ADDRESSES = ['198.41.0.4', '2001:503:ba3e::2:30'];

/** The only way out: this sender makes every outbound connection. */
export function createEgressSender(config: EgressConfig) {
  const { allowCidrs, caPem, names, deadlineMs, proxy } = config;
  const lookup = createLookup(names);
  const findRoute = createRouteFinder(allowCidrs);
  const gate = createEgressGate({ lookup, findRoute, report: config.report });
  if (caPem === undefined && getCACertificates('default').length === 0) {
    gate.failed(new EgressFailedError('no_authorities'));
  }
  const agent = new GuardedAgent({
    policy: createAddressPolicy(config),
    lookup,
    caPem,
    proxy,
    gate,
    findRoute,
  });
  const sender = createSender({ agent, deadlineMs });
  return {
    send: sender.send,
    close: (): void => {
      sender.close();
      gate.close();
    },
    /** Shut while this machine can send nothing to anybody. */
    gate,
  };
}
export type EgressSender = ReturnType<typeof createEgressSender>;
export type EgressGate = EgressSender['gate'];

type EgressGateDeps = {
  readonly lookup: Pick<NameLookup, 'look'>;
  readonly findRoute: () => Promise<boolean>;
  readonly report?: GateReport<EgressFailedError> | undefined;
};

/**
 * The gate of this machine's own way out: its resolver, its routes, its descriptors. A resolver that doesn't tell of the
 * root may serve names, and a machine without a route to the public Internet may have one to a receiver. So such a look
 * keeps nothing shut: whether it works again is found out by sending.
 */
export function createEgressGate({ lookup, findRoute, report }: EgressGateDeps) {
  return createGate<EgressFailedError>({
    concernsAll: () => true,
    async look(failure) {
      switch (failure.reason) {
        case 'resolver_away':
        case 'resolver_refuses':
          return (await lookup.look()) === 'serves';
        case 'no_route':
          return findRoute();
        case 'no_descriptors':
          await openSocket();
          return true;
        case 'no_authorities':
          // They are read when the process starts.
          throw failure;
      }
    },
    report: report ?? { failed: () => undefined, recovered: () => undefined },
  });
}

/**
 * Finds out whether a route leads anywhere: to the public Internet, or into a range that was opened. One connection that
 * finds none may be about an address that nobody can reach.
 */
export function createRouteFinder(allowCidrs: readonly string[]): () => Promise<boolean> {
  const addresses = [...PUBLIC_ADDRESSES, ...allowCidrs.map((cidr) => cidr.split('/', 1)[0] ?? '')];
  return async () => (await Promise.all(addresses.map(hasRoute))).includes(true);
}

/** "Connects" a UDP socket, which asks the system for a route and sends nothing. */
async function hasRoute(address: string): Promise<boolean> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.connect(53, address);
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.close();
  }
}

/** @throws EgressFailedError when there is no descriptor for one */
async function openSocket(): Promise<void> {
  const socket = createSocket('udp4');
  try {
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // Whatever else it is, descriptors are there.
    if (NO_DESCRIPTORS.has(code)) throw new EgressFailedError('no_descriptors', code);
  } finally {
    socket.close();
  }
}
