import { deliveryIdOf } from '@herald/core';
import type { WebhookBody } from '../tests/support/webhooks.ts';
import { isSignedWith } from './is-signed-with.ts';
import type { AcceptedFact, KnownEndpoint } from './ledger.ts';
import type { Arrival } from './moods.ts';
import type { DeliveryRecord } from './read-records.ts';

export type Evidence = {
  readonly facts: ReadonlyMap<string, AcceptedFact>;
  /** By the path of their urls. */
  readonly endpoints: ReadonlyMap<string, KnownEndpoint>;
  /** Of all receivers, each receiver's in order. */
  readonly arrivals: readonly Arrival[];
  readonly records: readonly DeliveryRecord[];
  /** Tries after which a delivery that was never answered well may be `failed`. */
  readonly triesOfSchedule: number;
  /** Longest time after its settlement that a send may still arrive which was decided on before, in ms. */
  readonly latestAfterMs: number;
};

export type Verdict = {
  readonly counts: {
    accepted: number;
    /** Accepted transitions × endpoints that were subscribed. */
    deliveries: number;
    delivered: number;
    failed: number;
    lost: number;
    arrivals: number;
    /** Arrivals of what its receiver had answered with 2xx before. */
    duplicated: number;
    /** Arrivals of a Task's event after one with a higher sequence at the same endpoint. */
    outOfOrder: number;
    /** Answered with 2xx, but recorded as something else: the answer did not get through. */
    answeredButNotDelivered: number;
  };
  readonly violations: readonly string[];
};

/** Compares what was accepted with what arrived and with what the log says. */
export function judgeRun(evidence: Evidence): Verdict {
  const { facts, records, arrivals } = evidence;
  const violations: string[] = [];
  const byDelivery = Map.groupBy(arrivals, ({ deliveryId }) => deliveryId);
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const counts = {
    ...{ accepted: facts.size, deliveries: 0, delivered: 0, failed: 0, lost: 0, arrivals: arrivals.length },
    ...{ duplicated: 0, outOfOrder: countOutOfOrder(arrivals), answeredButNotDelivered: 0 },
  };
  for (const fact of facts.values()) {
    for (const endpoint of fact.endpoints) {
      const id = deliveryIdOf(fact.transitionId, endpoint.id);
      const record = recordOf.get(id);
      const came = byDelivery.get(id) ?? [];
      const isFailed = record?.status === 'failed' && record.tries >= evidence.triesOfSchedule;
      counts.deliveries++;
      if (record?.status === 'delivered') counts.delivered++;
      if (isFailed) counts.failed++;
      if (came.some(isWell) && record?.status !== 'delivered') counts.answeredButNotDelivered++;
      if (!came.some(isWell) && !isFailed) {
        counts.lost++;
        violations.push(
          `lost: ${id} (${fact.event} of ${fact.taskId} to ${endpoint.id}) is ${describe(record)}, and arrived ${came.length} times`,
        );
      }
    }
  }
  for (const record of records) violations.push(...judgeRecord(record, byDelivery.get(record.id) ?? [], evidence));
  for (const arrival of arrivals) violations.push(...judgeArrival(arrival, recordOf.get(arrival.deliveryId), evidence));
  for (const [id, came] of byDelivery) {
    const first = came[0]?.request.rawBody;
    if (came.some(({ request }) => first?.equals(request.rawBody) === false))
      violations.push(`${id} came with different bytes`);
    const wellAt = came.findIndex(isWell);
    if (wellAt >= 0) counts.duplicated += came.length - wellAt - 1;
  }
  return { counts, violations };
}

function judgeRecord(record: DeliveryRecord, came: readonly Arrival[], { facts, triesOfSchedule }: Evidence): string[] {
  const violations: string[] = [];
  const fact = facts.get(record.transitionId);
  if (!fact) violations.push(`${record.id} is of ${record.transitionId}, which nobody was told of`);
  else if (!fact.endpoints.some(({ id }) => id === record.endpointId)) {
    violations.push(`${record.id} is for ${record.endpointId}, which was not subscribed to ${fact.event}`);
  }
  switch (record.status) {
    case 'delivered':
      if (!came.some(isWell)) violations.push(`${record.id} is delivered, though its receiver never answered 2xx`);
      break;
    case 'failed':
      if (record.tries < triesOfSchedule)
        violations.push(`${record.id} failed after ${record.tries} tries: ${describe(record)}`);
      break;
    case 'pending':
      violations.push(`${record.id} is pending ${record.isCarried ? 'still' : 'with neither job, backlog nor mark'}`);
      break;
    default:
      violations.push(`${record.id} is ${describe(record)}, which nothing in the run explains`);
  }
  const answers = record.attempts.flatMap(({ status }) => status ?? []);
  for (const status of new Set(answers)) {
    const logged = answers.filter((each) => each === status).length;
    const answered = came.filter(({ answer }) => answer === status).length;
    if (logged <= answered) continue;
    const log = JSON.stringify(record.attempts);
    violations.push(
      `${record.id} has ${logged} attempts answered ${status}, of which its receiver knows ${answered}: ${log}`,
    );
  }
  return violations;
}

function judgeArrival(
  { request, deliveryId }: Arrival,
  record: DeliveryRecord | undefined,
  evidence: Evidence,
): string[] {
  const endpoint = evidence.endpoints.get(request.path);
  if (!endpoint) return [`${deliveryId} came to ${request.path}, which nobody registered`];
  const violations: string[] = [];
  const body = readBody(request.rawBody);
  const fact = evidence.facts.get(body.id);
  if (deliveryId !== deliveryIdOf(body.id, endpoint.id))
    violations.push(`${deliveryId} came to ${endpoint.id}, whose it is not`);
  if (
    fact &&
    !fact.endpoints.some(({ id, workspaceId }) => id === endpoint.id && workspaceId === endpoint.workspaceId)
  ) {
    violations.push(`${deliveryId} of ${fact.taskId} came to ${endpoint.id} of ${endpoint.workspaceId}`);
  }
  if (!isSignedWith(request, endpoint.secret))
    violations.push(`${deliveryId} came to ${endpoint.id} with a wrong signature`);
  const afterMs = request.receivedAt - (record?.settledAt ?? Infinity);
  if (afterMs > evidence.latestAfterMs)
    violations.push(`${deliveryId} was sent ${afterMs} ms after it was ${describe(record)}`);
  return violations;
}

function countOutOfOrder(arrivals: readonly Arrival[]): number {
  const highest = new Map<string, number>();
  const seen = new Set<string>();
  let count = 0;
  for (const { request, deliveryId } of arrivals) {
    if (seen.has(deliveryId)) continue;
    seen.add(deliveryId);
    const { sequence, task } = readBody(request.rawBody);
    const key = `${request.path} ${task.id}`;
    if (sequence < (highest.get(key) ?? 0)) count++;
    else highest.set(key, sequence);
  }
  return count;
}

const isWell = ({ answer }: Arrival) => typeof answer === 'number' && answer >= 200 && answer < 300;
const readBody = (bytes: Buffer) => JSON.parse(bytes.toString()) as WebhookBody;

function describe(record: DeliveryRecord | undefined): string {
  if (!record) return 'not there';
  return record.reason === undefined ? record.status : `${record.status} (${record.reason})`;
}
