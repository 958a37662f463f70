import { VERSION } from '@herald/runtime/version';
import { createAddressPolicy } from './address-policy.ts';
import { createLookup } from './create-lookup.ts';
import { createSender, type Sender } from './create-sender.ts';
import { createGuardedAgent } from './guarded-agent.ts';
import { judgeUrlHost } from './judge-url-host.ts';

export type EgressConfig = {
  /** Ranges that are opened although they are not public. */
  readonly allowCidrs: readonly string[];
  /** A CA that is trusted beside the usual ones, in PEM. */
  readonly caPem?: string | undefined;
  /** Resolvers; none: the system's. */
  readonly dnsServers: readonly string[];
  /** Total deadline of one attempt, in ms. */
  readonly deadlineMs: number;
};

/** The one way out: every outbound connection is made by this sender. */
export function createEgressSender(
  { allowCidrs, caPem, dnsServers, deadlineMs }: EgressConfig,
  now: () => number,
): Sender {
  const agent = createGuardedAgent({
    policy: createAddressPolicy({ allowCidrs }),
    lookup: createLookup(dnsServers),
    ...(caPem !== undefined && { ca: [caPem] }),
  });
  return createSender({ agent, deadlineMs, userAgent: `Herald/${VERSION}`, now });
}

/** Says why a valid endpoint url can't be a destination, as far as that shows without a look-up. */
export function createEndpointUrlJudge(allowCidrs: readonly string[]): (url: string) => string | undefined {
  const policy = createAddressPolicy({ allowCidrs });
  return (url) => {
    const verdict = judgeUrlHost(new URL(url), policy);
    return verdict.ok ? undefined : verdict.reason;
  };
}
