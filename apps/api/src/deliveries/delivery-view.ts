import type { Delivery } from '@herald/core';
import type { AttemptRecord } from '@herald/infra';
import { toTime } from '../http/to-time.ts';

/** A delivery as its workspace sees it. */
export function toDeliveryView(delivery: Delivery) {
  const { id, event, status, endpointId, transitionId, taskId, createdAt, tries, nextAttemptAt, settledAt } = delivery;
  return {
    id,
    event,
    status,
    endpointId,
    transitionId,
    taskId: taskId ?? null,
    createdAt: toTime(createdAt),
    tries,
    nextAttemptAt: nextAttemptAt === undefined ? null : toTime(nextAttemptAt),
    settledAt: settledAt === undefined ? null : toTime(settledAt),
    ...(delivery.reason !== undefined && { reason: delivery.reason }),
    ...(delivery.owedAttempts > 0 && { owedAttempts: delivery.owedAttempts }),
  };
}

/** An attempt as its workspace sees it: a status or an error code, and the start of the answer. */
export function toAttemptView({ at, durationMs, status, error, answer }: AttemptRecord) {
  return {
    at: toTime(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
  };
}
