import { deliveryIdOf } from '@herald/core';
import type { Evidence } from './evidence.ts';
import { readBody } from './judge-arrival.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { Arrival } from './start-host.ts';
import { mayHaveBeenOff } from './subscription.ts';

/** The first arrival of a delivery. */
type First = { readonly arrival: Arrival; readonly transitionId: string; readonly sequence: number };

/**
 * Events of one Task that were first sent before an earlier one was settled, to an endpoint that asks for order, and
 * don't say that they were released.
 */
export function judgeOrder(evidence: Evidence): string[] {
  const ordered = new Map(evidence.endpoints.filter((each) => each.isOrdered).map((each) => [each.path, each]));
  const inTime = evidence.arrivals.toSorted((a, b) => a.request.receivedAt - b.request.receivedAt);
  const byLine = Map.groupBy(
    inTime.filter(({ request }) => ordered.has(request.path)),
    (arrival) => `${arrival.request.path} ${readBody(arrival).task.id}`,
  );
  return [...byLine.values()].flatMap((arrivals) => {
    const endpoint = ordered.get(arrivals[0]?.request.path ?? '');
    return endpoint ? judgeLine(endpoint, findFirsts(arrivals), evidence) : [];
  });
}

/** In the order of their arrival, without those that were told anew: a lost transition gets another sequence. */
function findFirsts(arrivals: readonly Arrival[]): First[] {
  return [...Map.groupBy(arrivals, ({ deliveryId }) => deliveryId).values()].flatMap((came) => {
    const [arrival] = came;
    if (!arrival || new Set(came.map((each) => readBody(each).sequence)).size > 1) return [];
    const { id, sequence } = readBody(arrival);
    return [{ arrival, transitionId: id, sequence }];
  });
}

function judgeLine(endpoint: KnownEndpoint, firsts: readonly First[], evidence: Evidence): string[] {
  return firsts.flatMap((late, index) =>
    firsts
      .slice(0, index)
      .filter((early) => early.sequence > late.sequence && !mayPrecede(endpoint, early, late, evidence))
      .map(
        (early) =>
          `${early.arrival.deliveryId}, event ${early.sequence} of its Task, was sent to ${endpoint.id} before event ${late.sequence}, ${late.arrival.deliveryId}`,
      ),
  );
}

/** Whether it said so, or the earlier event may have ended without arriving, and have come by a later wish. */
function mayPrecede(endpoint: KnownEndpoint, early: First, late: First, evidence: Evidence): boolean {
  if (early.arrival.request.headers['x-service-ordering'] === 'released') return true;
  const [at, lateAt] = [early.arrival.request.receivedAt, late.arrival.request.receivedAt];
  const from = evidence.facts.get(late.transitionId)?.from ?? -Infinity;
  if (at === lateAt || mayHaveBeenOff(endpoint, from, lateAt)) return true;
  const id = deliveryIdOf(late.transitionId, endpoint.id);
  const attempts = evidence.records.find((record) => record.id === id)?.attempts ?? [];
  return attempts.filter((attempt) => attempt.at <= at).length >= evidence.triesOfSchedule;
}
