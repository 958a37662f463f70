import { createAddressPolicy } from './address-policy.ts';
import { createLookup } from './create-lookup.ts';
import type { EgressProxy } from './create-proxy.ts';
import { createSender, type Sender } from './create-sender.ts';
import { GuardedAgent } from './guarded-agent.ts';

export type EgressConfig = {
  /** Ranges to open although they are not public. */
  readonly allowCidrs: readonly string[];
  /** An authority to trust besides the usual ones, in PEM. */
  readonly caPem?: string | undefined;
  /** Name servers to ask; none: the system resolves names. */
  readonly dnsServers: readonly string[];
  /** Total deadline of one attempt, in ms. */
  readonly deadlineMs: number;
  /** Everything goes through it. The sender owns it. Undefined: connections are made directly. */
  readonly proxy?: EgressProxy | undefined;
};

/** The only way out: this sender makes every outbound connection. */
export function createEgressSender({ allowCidrs, caPem, dnsServers, deadlineMs, proxy }: EgressConfig): Sender {
  const agent = new GuardedAgent({
    policy: createAddressPolicy({ allowCidrs }),
    lookup: createLookup(dnsServers),
    caPem,
    proxy,
  });
  return createSender({ agent, deadlineMs });
}
