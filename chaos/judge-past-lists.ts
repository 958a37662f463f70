import { deliveryIdOf } from '@herald/core';
import { judgeWalk } from './judge-walk.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Ledger } from './ledger.ts';
import type { PastList } from './start-readers.ts';
import { findSubscribed } from './subscription.ts';

/** Between the clocks of the run and of an acceptance, in ms. */
const TOLERANCE_MS = 2_000;

/**
 * Lists that were wrong while deliveries moved. Ask when every change of a receiver is answered: until then nobody knows
 * what it was subscribed to.
 * @param endpoints all that ever were
 * @param mayBeStale servers with replicas may answer for a moment what was true before
 */
export function judgePastLists(
  lists: readonly PastList[],
  facts: Ledger['facts'],
  endpoints: readonly KnownEndpoint[],
  mayBeStale: boolean,
): string[] {
  return lists.flatMap((list) => {
    const { name, workspaceId, receiver, event, since, startedAt, endedAt, walk } = list;
    if (!walk) {
      const wasThere = !receiver?.exists.possible(startedAt, endedAt).includes(false);
      return wasThere && !mayBeStale ? [`${name} was not found`] : [];
    }
    const certain = [...facts.values()].filter(
      (fact) =>
        fact.workspaceId === workspaceId &&
        fact.from >= since + TOLERANCE_MS &&
        fact.by <= startedAt &&
        (event === undefined || fact.event === event),
    );
    const subscribed = [...findSubscribed(certain, receiver ? [receiver] : endpoints)];
    const expected = subscribed.flatMap(([fact, { id }, isCertain]) =>
      isCertain ? deliveryIdOf(fact.transitionId, id) : [],
    );
    return judgeWalk(name, walk, mayBeStale ? [] : expected);
  });
}
