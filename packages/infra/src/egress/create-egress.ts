import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/env.ts';
import { createAddressPolicy, type AddressPolicy } from './address-policy.ts';
import { createLookup } from './create-lookup.ts';
import { createSender, type Sender } from './create-sender.ts';
import { createGuardedAgent } from './guarded-agent.ts';
import { judgeUrlHost } from './judge-url-host.ts';

export type EgressConfig = {
  /** Ranges that are opened although they are not public. */
  readonly allowCidrs: readonly string[];
  /** PEM file of a CA that is trusted beside the usual ones. */
  readonly caFile?: string | undefined;
  /** Resolvers; none: the system's. */
  readonly dnsServers: readonly string[];
  /** Total deadline of one attempt, in ms. */
  readonly deadlineMs: number;
};

const USER_AGENT = 'Herald/0.1.0';

/** The one way out: every outbound connection is made by this sender. */
export function createEgressSender({ allowCidrs, caFile, dnsServers, deadlineMs }: EgressConfig): Sender {
  const agent = createGuardedAgent({
    policy: readPolicy(allowCidrs),
    lookup: createLookup(dnsServers),
    ...(caFile !== undefined && { ca: [readCa(caFile)] }),
  });
  return createSender({ agent, deadlineMs, userAgent: USER_AGENT });
}

/** Says why a valid endpoint url can't be a destination, as far as that shows without a look-up. */
export function createEndpointUrlJudge(allowCidrs: readonly string[]): (url: string) => string | undefined {
  const policy = readPolicy(allowCidrs);
  return (url) => {
    const verdict = judgeUrlHost(new URL(url), policy);
    return verdict.ok ? undefined : verdict.reason;
  };
}

function readPolicy(allowCidrs: readonly string[]): AddressPolicy {
  try {
    return createAddressPolicy({ allowCidrs });
  } catch (error) {
    throw new ConfigError(`EGRESS_ALLOW_CIDRS is wrong: ${(error as Error).message}`);
  }
}

function readCa(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`EGRESS_CA_FILE can't be read: ${(error as Error).message}`);
  }
}
