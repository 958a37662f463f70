import { errorCodeOf, type CountedOutcome, type Delivery } from '@herald/core';
import type { AttemptRecord, EndpointRecord, Logger } from '@herald/infra';
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

/** One wide line per attempt. The url's path and query stay out: people put tokens there. */
export function logAttempt(
  logger: Logger,
  delivery: Delivery,
  endpoint: EndpointRecord,
  attempt: AttemptRecord,
  verdict: string,
): void {
  logger.info('delivery.attempted', {
    deliveryId: delivery.id,
    transitionId: delivery.transitionId,
    taskId: delivery.taskId,
    workspaceId: delivery.workspaceId,
    endpointId: endpoint.id,
    host: URL.parse(endpoint.url)?.host,
    event: delivery.event,
    attempt: delivery.tries + 1,
    status: attempt.status,
    error: attempt.error,
    durationMs: attempt.durationMs,
    sinceAcceptanceMs: Math.round(attempt.at + attempt.durationMs - delivery.createdAt),
    verdict,
  });
}
