import { deliveryIdOf } from '@herald/core';
import type { WebhookBody } from '../tests/support/webhooks.ts';
import { describeRecord, isWell, type Evidence } from './evidence.ts';
import { judgeArrival, readBody, secretsOf } from './judge-arrival.ts';
import { judgeHistory } from './judge-history.ts';
import { judgeOrder } from './judge-order.ts';
import { judgeRates } from './judge-rates.ts';
import { judgeReceivers } from './judge-receivers.ts';
import { isExhausted, isRightlyCanceled, judgeRecord } from './judge-record.ts';
import { judgeTimes } from './judge-times.ts';
import { judgeRedeliveries, judgeReplays } from './judge-requests.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';
import { findSubscribed } from './subscription.ts';

type Counts = {
  accepted: number;
  /** Accepted transitions × endpoints that were subscribed. */
  deliveries: number;
  delivered: number;
  failed: number;
  canceled: number;
  lost: number;
  arrivals: number;
  /** Arrivals of deliveries that their receiver had answered with 2xx before. */
  duplicated: number;
  /** Arrivals of a Task's event after one with a higher sequence at the same endpoint. */
  outOfOrder: number;
  /** Answered with 2xx, but recorded with another outcome: the answer was lost. */
  answeredButNotDelivered: number;
  /** Deliveries that came again with another time or sequence: their transition was lost before its 2xx. */
  toldAnew: number;
  /** Arrivals that may be signed with a secret whose answer was lost. */
  notVerifiable: number;
};

export type Verdict = { readonly counts: Readonly<Counts>; readonly violations: readonly string[] };

/** Compares accepted transitions with arrivals and with the delivery log. */
export function judgeRun(evidence: Evidence): Verdict {
  const { facts, records, arrivals, endpoints } = evidence;
  const byDelivery = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const counts: Counts = {
    accepted: facts.size,
    deliveries: 0,
    delivered: 0,
    failed: 0,
    canceled: 0,
    lost: 0,
    arrivals: arrivals.length,
    duplicated: 0,
    outOfOrder: countOutOfOrder(arrivals),
    answeredButNotDelivered: 0,
    toldAnew: 0,
    notVerifiable: 0,
  };
  const violations: string[] = [];
  for (const [fact, endpoint, isCertain] of findSubscribed(facts.values(), endpoints)) {
    const id = deliveryIdOf(fact.transitionId, endpoint.id);
    const record = recordOf.get(id);
    if (!record && !isCertain) continue;
    violations.push(...countDelivery(counts, fact, endpoint, record, byDelivery.get(id) ?? [], evidence));
  }
  for (const record of records)
    violations.push(...judgeRecord(record, byId.get(record.endpointId), byDelivery.get(record.id) ?? [], evidence));
  for (const arrival of arrivals) {
    const endpoint = byPath.get(arrival.request.path);
    if (endpoint && !secretsOf(arrival, endpoint, evidence)) counts.notVerifiable++;
    violations.push(...judgeArrival(arrival, endpoint, recordOf.get(arrival.deliveryId), evidence));
  }
  for (const [id, came] of byDelivery) violations.push(...countRepeats(counts, id, came, evidence));
  violations.push(
    ...judgeRedeliveries(evidence),
    ...judgeReplays(evidence),
    ...judgeReceivers(evidence),
    ...judgeOrder(evidence),
    ...judgeRates(evidence),
    ...judgeTimes(evidence),
    ...judgeHistory(evidence),
  );
  return { counts, violations };
}

function countDelivery(
  counts: Counts,
  fact: AcceptedFact,
  endpoint: KnownEndpoint,
  record: DeliveryRecord | undefined,
  came: readonly Arrival[],
  evidence: Evidence,
): string[] {
  const hasArrived = came.some(isWell);
  const isFailed = record !== undefined && isExhausted(record, evidence);
  const isCanceled = record !== undefined && isRightlyCanceled(record, fact, endpoint, evidence);
  counts.deliveries++;
  if (record?.status === 'delivered') counts.delivered++;
  if (isFailed) counts.failed++;
  if (isCanceled) counts.canceled++;
  if (hasArrived && record?.status !== 'delivered') counts.answeredButNotDelivered++;
  if (hasArrived || isFailed || isCanceled) return [];
  counts.lost++;
  const id = deliveryIdOf(fact.transitionId, endpoint.id);
  const what = `${fact.event} of ${fact.taskId} to ${endpoint.id}`;
  return [`lost: ${id} (${what}) is ${describeRecord(record)}, and arrived ${came.length} times`];
}

/** Checks that all arrivals under one id have the same bytes. */
function countRepeats(
  counts: Counts,
  id: string,
  came: readonly Arrival[],
  { mayForgetUnanswered }: Evidence,
): string[] {
  const wellAt = came.findIndex(isWell);
  if (wellAt >= 0) counts.duplicated += came.length - wellAt - 1;
  const bodies = [...new Set(came.map(({ request }) => request.rawBody.toString()))];
  if (bodies.length < 2) return [];
  if (!mayForgetUnanswered || new Set(bodies.map(factOf)).size > 1)
    return [`${id} came with different bytes: ${bodies.join(' ')}`];
  counts.toldAnew++;
  return [];
}

/** A body without its time and its sequence: a transition that was lost and reported again gets new ones. */
function factOf(body: string): string {
  return JSON.stringify({ ...(JSON.parse(body) as WebhookBody), created_at: undefined, sequence: undefined });
}

function countOutOfOrder(arrivals: readonly Arrival[]): number {
  const highest = new Map<string, number>();
  const seen = new Set<string>();
  let count = 0;
  for (const arrival of arrivals) {
    if (seen.has(arrival.deliveryId)) continue;
    seen.add(arrival.deliveryId);
    const { sequence, task } = readBody(arrival);
    const key = `${arrival.request.path} ${task.id}`;
    if (sequence < (highest.get(key) ?? 0)) count++;
    else highest.set(key, sequence);
  }
  return count;
}
