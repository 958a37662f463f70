import { describeRecord, isWell, type Evidence } from './evidence.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import type { AcceptedFact } from './ledger.ts';
import type { DeliveryRecord } from './read-records.ts';
import type { Arrival } from './start-host.ts';
import { subscriptionOf } from './subscription.ts';

/** Whether all tries of its schedule were made. */
export function isExhausted(record: DeliveryRecord, { triesOfSchedule }: Evidence): boolean {
  return record.status === 'failed' && record.tries >= triesOfSchedule;
}

/**
 * Whether its endpoint may have been disabled or removed while it was pending. The record has the time at which its
 * worker began to end it. The worker may then have been paused, or its command delayed, as long as other late effects.
 */
export function isRightlyCanceled(
  record: DeliveryRecord,
  fact: AcceptedFact,
  endpoint: KnownEndpoint,
  { latestAfterMs }: Evidence,
): boolean {
  const { status, reason, settledAt = Infinity } = record;
  const states = reason === 'receiver_disabled' ? endpoint.enabled : endpoint.exists;
  const isKnown = reason === 'receiver_disabled' || reason === 'receiver_removed';
  return status === 'canceled' && isKnown && states.possible(fact.from, settledAt + latestAfterMs).includes(false);
}

/** Contradictions of a record. */
export function judgeRecord(
  record: DeliveryRecord,
  endpoint: KnownEndpoint | undefined,
  came: readonly Arrival[],
  evidence: Evidence,
): string[] {
  const { id } = record;
  const fact = evidence.facts.get(record.transitionId);
  if (!fact) return [`${id} is of ${record.transitionId}, which was never accepted`];
  if (!endpoint) return [`${id} is for ${record.endpointId}, which was never registered`];
  const violations: string[] = [];
  if (subscriptionOf(fact, endpoint) === 'none')
    violations.push(`${id} is for ${endpoint.id}, which was not subscribed to ${fact.event} of ${fact.taskId}`);
  switch (record.status) {
    case 'delivered':
      if (!came.some(isWell)) violations.push(`${id} is delivered, though its receiver never answered 2xx`);
      break;
    case 'failed':
      if (!isExhausted(record, evidence))
        violations.push(`${id} failed after ${record.tries} tries: ${describeRecord(record)}`);
      break;
    case 'pending':
      violations.push(`${id} is pending ${record.isCarried ? 'still' : 'and not in the queue'}`);
      break;
    default:
      if (!isRightlyCanceled(record, fact, endpoint, evidence))
        violations.push(`${id} is ${describeRecord(record)}, which nothing in the run explains`);
  }
  return [...violations, ...judgeAttempts(record, came)];
}

/** Logged answers that the receiver didn't give. */
function judgeAttempts({ id, attempts }: DeliveryRecord, came: readonly Arrival[]): string[] {
  const answers = attempts.flatMap(({ status }) => status ?? []);
  return [...new Set(answers)].flatMap((status) => {
    const logged = answers.filter((each) => each === status).length;
    const answered = came.filter(({ answer }) => answer === status).length;
    if (logged <= answered) return [];
    const log = JSON.stringify(attempts);
    return [`${id} has ${logged} attempts answered ${status}, of which its receiver knows ${answered}: ${log}`];
  });
}
