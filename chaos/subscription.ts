import type { KnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';

/** Whether an endpoint was subscribed when a transition was accepted; 'possible' when a change may overlap. */
export type Subscription = 'certain' | 'possible' | 'none';

export function subscriptionOf(fact: AcceptedFact, endpoint: KnownEndpoint): Subscription {
  const { workspaceId, taskId, exists, events } = endpoint;
  if (workspaceId !== fact.workspaceId || (taskId !== undefined && taskId !== fact.taskId)) return 'none';
  const isThere = exists.possible(fact.from, fact.by);
  const wants = events.possible(fact.from, fact.by).map((names) => names.length === 0 || names.includes(fact.event));
  if (!isThere.includes(true) || !wants.includes(true)) return 'none';
  return isThere.includes(false) || wants.includes(false) ? 'possible' : 'certain';
}

/** Every fact with each endpoint that was subscribed to it, or may have been. */
export function* findSubscribed(facts: Iterable<AcceptedFact>, endpoints: readonly KnownEndpoint[]) {
  const receivers = endpoints.filter(({ taskId }) => taskId === undefined);
  const callbacks = new Map(endpoints.map((endpoint) => [endpoint.taskId, endpoint]));
  for (const fact of facts) {
    const callback = callbacks.get(fact.taskId);
    for (const endpoint of callback ? [...receivers, callback] : receivers) {
      const subscription = subscriptionOf(fact, endpoint);
      if (subscription !== 'none') yield [fact, endpoint, subscription === 'certain'] as const;
    }
  }
}

/** Whether it may have been disabled or removed between two times, which ends its pending deliveries. */
export function mayHaveBeenOff({ exists, enabled }: KnownEndpoint, from: number, to: number): boolean {
  return exists.possible(from, to).includes(false) || enabled.possible(from, to).includes(false);
}
