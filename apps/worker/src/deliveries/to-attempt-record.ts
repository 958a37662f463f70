import { errorCodeOf, type CountedOutcome } from '@herald/core';
import type { AttemptRecord } from '@herald/store/deliveries/delivery-record';
import type { SendResult } from './make-attempt.ts';

/** What an attempt leaves in the delivery's log. */
export function toAttemptRecord(outcome: CountedOutcome, { startedAt, durationMs }: SendResult): AttemptRecord {
  const error = errorCodeOf(outcome);
  return {
    at: startedAt,
    durationMs: Math.round(durationMs),
    ...(outcome.kind === 'responded' && { status: outcome.status }),
    ...(outcome.kind === 'responded' && outcome.answer !== '' && { answer: outcome.answer }),
    ...(error !== undefined && { error }),
  };
}
