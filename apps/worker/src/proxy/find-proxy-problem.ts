import type { EgressProxy } from '@herald/egress/create-proxy';
import type { ProxyFailure } from '@herald/egress/egress-errors';
import { error, type Finding } from '@herald/runtime/findings/finding';

/** For the open page: they name neither an address nor credentials. */
const SENTENCES: Readonly<Record<ProxyFailure, string>> = {
  lookup_failed: 'has a name without an address',
  connect_failed: 'takes no connections',
  tls_failed: 'fails at TLS: its certificate is not trusted or for another host, or it speaks none',
  timed_out: 'gives no answer in time',
  closed: 'closes connections without an answer',
  malformed_answer: 'answers something else than HTTP',
  unauthenticated: 'refuses the credentials (407)',
  refused: 'refuses tunnels',
};

/** Why nothing goes out, while the proxy fails. */
export function findProxyProblem(proxy: EgressProxy | undefined): Finding | undefined {
  const failure = proxy?.isDoubted() ? proxy.failure() : undefined;
  if (failure === undefined) return undefined;
  const sentence = `the proxy of EGRESS_PROXY_URL ${SENTENCES[failure.reason]}; deliveries wait and spend no try`;
  return error('egress_proxy', sentence);
}
