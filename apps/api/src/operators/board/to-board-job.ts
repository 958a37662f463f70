import { TEST_GROUP } from '@herald/store/keyspace/groups';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import type { BoardJob } from '@herald/queue';
import { toTime } from '../../http/to-time.ts';
import { hasSucceeded, toWords } from './attempt-words.ts';

/** A delivery as bull-board shows a job. */
export function toBoardJob(description: DeliveryDescription): BoardJob {
  const { delivery, lastAttempt } = description;
  const { createdAt, nextAttemptAt, settledAt, tries } = delivery;
  const failedReason = whyFailed(description);
  return {
    name: toTitle(description),
    data: toFacts(description),
    addedAt: createdAt,
    ...(nextAttemptAt !== undefined && { dueAt: nextAttemptAt }),
    // The page shows the time between the two.
    ...(settledAt !== undefined && { startedAt: lastAttempt?.at ?? createdAt, endedAt: settledAt }),
    attemptsMade: tries,
    ...(failedReason !== '' && { failedReason }),
    groups: groupsOf(description),
    ...(delivery.status !== 'pending' && { ended: delivery.status === 'delivered' ? 'completed' : 'failed' }),
  };
}

/** The reason of a failed or canceled delivery, and the outcome of its last attempt if that failed. */
function whyFailed({ delivery: { reason }, lastAttempt }: DeliveryDescription): string {
  const outcome = lastAttempt && !hasSucceeded(lastAttempt) ? toWords(lastAttempt) : undefined;
  return [reason, outcome].filter((part) => part !== undefined).join(': ');
}

/** The groups in which it can wait: none if nothing is to be sent. */
function groupsOf({ delivery, group }: DeliveryDescription): readonly string[] {
  if (delivery.status !== 'pending' && delivery.owedAttempts === 0) return [];
  return [...(delivery.event === 'webhook.test' ? [TEST_GROUP] : []), group];
}

/** The data of a job, in the order in which people read it. */
export function toFacts({
  delivery,
  host,
  endpointState,
  attempts,
  lastOutcome,
  waitingFor,
}: DeliveryDescription): BoardJob['data'] {
  const { nextAttemptAt, settledAt, taskId, reason, owedAttempts } = delivery;
  return {
    event: delivery.event,
    workspace: delivery.workspaceId,
    host: host ?? '(removed)',
    endpoint: delivery.endpointId,
    ...(endpointState !== 'enabled' && { endpointState }),
    ...(taskId !== undefined && { task: taskId }),
    status: delivery.status,
    ...(reason !== undefined && { reason }),
    tries: delivery.tries,
    attempts,
    lastOutcome: lastOutcome ?? 'none yet',
    ...(owedAttempts > 0 && { redeliveriesOwed: owedAttempts }),
    ...(nextAttemptAt !== undefined && { nextTry: toTime(nextAttemptAt) }),
    ...(waitingFor !== undefined && { waitingFor }),
    accepted: toTime(delivery.createdAt),
    ...(settledAt !== undefined && { settled: toTime(settledAt) }),
  };
}

export function toTitle({ delivery, host }: DeliveryDescription): string {
  return `${delivery.event} → ${host ?? '(removed)'}`;
}
