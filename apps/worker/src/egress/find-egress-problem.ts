import type { EgressGate } from '@herald/egress/create-egress';
import type { EgressProxy } from '@herald/egress/create-proxy';
import type { EgressFailure, ProxyFailure } from '@herald/egress/egress-errors';
import { error, type Finding } from '@herald/runtime/findings/finding';

// For the open page: they name neither an address nor credentials.

const OF_MACHINE: Readonly<Record<EgressFailure, string>> = {
  resolver_away: 'no resolver answers',
  resolver_refuses: 'the resolver answers nothing that it is asked',
  no_route: 'no route leads out of this machine',
  no_descriptors: 'the process has no file descriptors left',
  no_authorities: 'no certificate authority is trusted, so no certificate can be right',
};

const OF_PROXY: Readonly<Record<ProxyFailure, string>> = {
  lookup_failed: 'has a name without an address',
  connect_failed: 'takes no connections',
  tls_failed: 'fails at TLS: its certificate is not trusted or for another host, or it speaks none',
  timed_out: 'gives no answer in time',
  closed: 'closes connections without an answer',
  malformed_answer: 'answers something else than HTTP',
  unauthenticated: 'refuses the credentials (407)',
  refused: 'refuses tunnels',
};

/** Why nothing goes out, while this machine or the proxy fails. */
export function findEgressProblem(gate: EgressGate, proxy: EgressProxy | undefined): Finding | undefined {
  const ofMachine = gate.failure();
  if (ofMachine) return error('egress_away', `${OF_MACHINE[ofMachine.reason]}; deliveries wait and spend no try`);
  const ofProxy = proxy?.isDoubted() ? proxy.failure() : undefined;
  if (ofProxy === undefined) return undefined;
  const sentence = `the proxy of EGRESS_PROXY_URL ${OF_PROXY[ofProxy.reason]}; deliveries wait and spend no try`;
  return error('egress_proxy', sentence);
}
