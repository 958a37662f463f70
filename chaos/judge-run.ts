import { deliveryIdOf } from '@herald/core';
import type { WebhookBody } from '../tests/support/webhooks.ts';
import { describeRecord, type Evidence, isWell } from './evidence.ts';
import { judgeArrival, readBody, secretsOf } from './judge-arrival.ts';
import { isExhausted, isRightlyCanceled, judgeRecord } from './judge-record.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact, Ledger } from './ledger.ts';
import { WORKER_SLOTS } from './plan.ts';
import type { ReadList } from './read-lists.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';
import type { PastList } from './start-readers.ts';
import { findSubscribed, mayHaveBeenOff } from './subscription.ts';
import type { ListedEntry, Walk } from './walk-list.ts';

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

/** With a history: each delivery is there once, with the bytes that were sent, and every list shows it once. */
export function judgeHistory(evidence: Evidence): string[] {
  const { history, records, facts, endpoints } = evidence;
  if (!history) return [];
  const known = new Set(records.map(({ id }) => id));
  const owed = [...findSubscribed(facts.values(), endpoints)].flatMap(([fact, endpoint, isCertain]) =>
    isCertain ? deliveryIdOf(fact.transitionId, endpoint.id) : [],
  );
  return [
    ...owed.filter((id) => !known.has(id)).map((id) => `${id} is neither in Redis nor in the history`),
    ...judgeRows(evidence),
    ...history.lists.flatMap((list) => judgeList(list, evidence)),
  ];
}

function judgeRows({ history, arrivals, mayForgetUnanswered }: Evidence): string[] {
  const sentBodies = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  return [...Map.groupBy(history?.rows ?? [], ({ id }) => id)].flatMap(([id, rows]) => {
    const places = rows.map(({ createdAt }) => createdAt);
    if (rows.length > 1) return [`the history has ${id} ${rows.length} times: of ${places.join(' and ')}`];
    const body = rows[0]?.body;
    if (body == null) return [`the history has no body of ${id}`];
    const sent = (sentBodies.get(id) ?? []).map(({ request }) => request.rawBody.toString());
    const others = sent.filter((each) => each !== body);
    // A transition that a failover lost is told anew, in other words.
    const isWrong = mayForgetUnanswered ? others.length === sent.length && sent.length > 0 : others.length > 0;
    return isWrong ? [`the history has other bytes of ${id} than were sent: ${body}, not ${others[0] ?? ''}`] : [];
  });
}

/** Everything that is known of the list's owner, and nothing else. */
function judgeList({ name, workspaceId, endpointId, walk }: ReadList, { records, endpoints }: Evidence): string[] {
  const isOwn = ({ id, workspaceId: owner }: Evidence['endpoints'][number]) =>
    endpointId === undefined ? owner === workspaceId : id === endpointId;
  const own = new Set(endpoints.filter(isOwn).map(({ id }) => id));
  const ids = new Set(records.filter((record) => own.has(record.endpointId)).map(({ id }) => id));
  const strange = walk.entries.filter(({ id }) => !ids.has(id));
  return [...judgeWalk(name, walk, ids), ...strange.map(({ id }) => `${name} showed ${id}, which isn't its own`)];
}

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

/** Windows in which arrivals are counted, in s. */
const WINDOWS_S = [1, 10];

/**
 * Receivers that got more in a window than their rate allows: a burst of one second, and the rate from then on. What was
 * redelivered waits for no rate. A worker that stood still, or was cut off from Redis, sends what it had reserved before:
 * a burst at most. A failover may forget that a burst was sent.
 */
function judgeRates({ endpoints, arrivals, redeliveries, mayForgetUnanswered }: Evidence): string[] {
  const askedFor = new Set(redeliveries.map(({ deliveryId }) => deliveryId));
  const byPath = Map.groupBy(arrivals, ({ request }) => request.path);
  const lateBursts = WORKER_SLOTS.length + (mayForgetUnanswered ? 1 : 0);
  return endpoints.flatMap(({ id, path, rateLimit }) => {
    if (!rateLimit) return [];
    const limited = (byPath.get(path) ?? []).filter(({ deliveryId }) => !askedFor.has(deliveryId));
    const times = limited.map(({ request }) => request.receivedAt).sort((a, b) => a - b);
    return WINDOWS_S.flatMap((seconds) => {
      const most = rateLimit.perSecond * (1 + seconds + lateBursts);
      const count = countMost(times, seconds * 1_000);
      return count > most ? [`${id} got ${count} requests in ${seconds} s, and may get ${most}`] : [];
    });
  });
}

/** The most of these sorted times in one window. */
function countMost(times: readonly number[], windowMs: number): number {
  let [first, most] = [0, 0];
  for (const [index, time] of times.entries()) {
    while (time - (times[first] ?? time) >= windowMs) first++;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

/** Receivers whose final state contradicts the answers to their changes. */
function judgeReceivers({ endpoints, receivers: { shown, at } }: Evidence): string[] {
  const shownById = new Map(shown.map((receiver) => [receiver.id, receiver]));
  const known = new Set(endpoints.map(({ id }) => id));
  const unknown = shown.filter(({ id }) => !known.has(id)).map(({ id }) => `${id} exists, but was never registered`);
  const wrong = endpoints
    .filter(({ taskId }) => taskId === undefined)
    .flatMap(({ id, exists, enabled, events }) => {
      const receiver = shownById.get(id);
      if (!exists.possible(at, at).includes(receiver !== undefined))
        return [`${id} is ${receiver ? 'still there after its removal' : 'missing, but was never removed'}`];
      if (!receiver) return [];
      const violations: string[] = [];
      if (!enabled.possible(at, at).includes(receiver.enabled))
        violations.push(`${id} is ${receiver.enabled ? 'enabled' : 'disabled'}, which it was not when last changed`);
      const wanted = events.possible(at, at).map((names) => [...names].sort().join());
      const wants = [...receiver.events].sort().join();
      if (!wanted.includes(wants)) violations.push(`${id} wants ${wants}, and was told ${wanted.join(' or ')}`);
      return violations;
    });
  return [...unknown, ...wrong];
}

/** Promised redeliveries that were not made, although their receiver existed and was enabled. */
function judgeRedeliveries({ redeliveries, records }: Evidence): string[] {
  const recordOf = new Map(records.map((record) => [record.id, record]));
  return redeliveries.flatMap(({ deliveryId, endpoint, from }) => {
    const record = recordOf.get(deliveryId);
    if (record?.attempts.some(({ at }) => at >= from)) return [];
    if (mayHaveBeenOff(endpoint, from, Infinity)) return [];
    return [
      `the redelivery of ${deliveryId}, asked for at ${from}, was never made: ${JSON.stringify(record?.attempts)}`,
    ];
  });
}

/** Promised replays that were not carried out, or were incomplete. */
function judgeReplays({ replays, records }: Evidence): string[] {
  return replays.flatMap(({ id, endpoint, from, since, status }) => {
    if (status === 'stopped' && mayHaveBeenOff(endpoint, from, Infinity)) return [];
    if (status !== 'done') return [`the replay ${id} is ${status ?? 'not there'}`];
    return records
      .filter(({ endpointId, createdAt }) => endpointId === endpoint.id && createdAt >= since && createdAt < from)
      .filter((record) => record.status === 'failed' || record.status === 'canceled')
      .filter(({ settledAt = Infinity }) => settledAt < from)
      .map((record) => `the replay ${id} of ${from} left ${record.id} as it was: ${describeRecord(record)}`);
  });
}

/**
 * Tolerance between times of one machine and noted times of requests, in ms: seconds are truncated, and clocks drift.
 */
const TOLERANCE_MS = 2_000;

/** Checks that no wrong clock has an effect: signatures and stored acceptances have the right time. */
function judgeTimes({ facts, arrivals, records, latestAfterMs, mayForgetUnanswered }: Evidence): string[] {
  const signed = arrivals.flatMap(({ deliveryId, request: { headers, receivedAt } }) => {
    const aheadMs = Number(headers['webhook-timestamp']) * 1_000 - receivedAt;
    if (aheadMs <= TOLERANCE_MS && aheadMs >= -latestAfterMs - TOLERANCE_MS) return [];
    return [`${deliveryId} was signed with a time that is ${aheadMs} ms ahead`];
  });
  // A transition that a failover lost is accepted again later.
  const accepted = (mayForgetUnanswered ? [] : records).flatMap(({ id, transitionId, createdAt }) => {
    const fact = facts.get(transitionId);
    if (!fact || (createdAt >= fact.from - TOLERANCE_MS && createdAt <= fact.by + TOLERANCE_MS)) return [];
    return [`${id} was accepted at ${createdAt}, and between ${fact.from} and ${fact.by} in truth`];
  });
  return [...signed, ...accepted];
}

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

/**
 * Deliveries that the pages of a list show twice, in the wrong place, or not at all.
 * @param name of the list, as a sentence has it
 * @param expected ids of deliveries that it has from the first page to the last
 */
export function judgeWalk(name: string, { entries, isWhole }: Walk, expected: Iterable<string>): string[] {
  const seen = new Set<string>();
  const violations: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1];
    if (seen.has(entry.id)) violations.push(`${name} showed ${entry.id} twice`);
    else if (before && !isBehind(entry, before))
      violations.push(`${name} showed ${entry.id} of ${entry.createdAt} behind ${before.id} of ${before.createdAt}`);
    seen.add(entry.id);
  }
  if (!isWhole) return violations;
  const missing = [...expected].filter((id) => !seen.has(id));
  return [...violations, ...missing.map((id) => `${name} did not show ${id}`)];
}

/** Newest first, and among those of one time the highest id. */
function isBehind(entry: ListedEntry, before: ListedEntry): boolean {
  return entry.createdAt === before.createdAt ? entry.id < before.id : entry.createdAt < before.createdAt;
}
