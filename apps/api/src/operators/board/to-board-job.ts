import { TEST_GROUP } from '@herald/store/keyspace/test-group';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';
import type { BoardJob } from '@herald/queue';
import { hasSucceeded, toWords } from './attempt-words.ts';
import { toFacts, toTitle } from './delivery-facts.ts';

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
    // The page counts from one to the other.
    ...(settledAt !== undefined && { startedAt: lastAttempt?.at ?? createdAt, endedAt: settledAt }),
    attemptsMade: tries,
    ...(failedReason !== '' && { failedReason }),
    groups: groupsOf(description),
    ...(delivery.status !== 'pending' && { ended: delivery.status === 'delivered' ? 'completed' : 'failed' }),
  };
}

/** Why it failed or was canceled, and what came of the last attempt, when that failed; also of one that is tried again. */
function whyFailed({ delivery: { reason }, lastAttempt }: DeliveryDescription): string {
  const outcome = lastAttempt && !hasSucceeded(lastAttempt) ? toWords(lastAttempt) : undefined;
  return [reason, outcome].filter((part) => part !== undefined).join(': ');
}

/** Where it can wait: in none when nothing is to be sent. */
function groupsOf({ delivery, destination }: DeliveryDescription): readonly string[] {
  if (delivery.status !== 'pending' && delivery.owedAttempts === 0) return [];
  return [
    ...(delivery.event === 'webhook.test' ? [TEST_GROUP] : []),
    ...(destination === undefined ? [] : [destination]),
  ];
}
