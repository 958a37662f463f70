import type { AttemptRecord } from '@herald/store/deliveries/delivery-record';
import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';

/** A delivery as programs get it: never its body, its secret, or more of a url than the host. */
export function toDeliveryJson({ delivery, host, endpointState, attempts, lastOutcome }: DeliveryDescription) {
  const { id, workspaceId, endpointId, transitionId, taskId, event, status, tries, createdAt, nextAttemptAt } =
    delivery;
  return {
    id,
    workspace: workspaceId,
    endpointId,
    endpointState,
    host: host ?? null,
    transitionId,
    taskId: taskId ?? null,
    event,
    status,
    ...(delivery.reason !== undefined && { reason: delivery.reason }),
    tries,
    attemptCount: attempts,
    lastOutcome: lastOutcome ?? null,
    ...(delivery.owedAttempts > 0 && { owedAttempts: delivery.owedAttempts }),
    createdAt: toIso(createdAt),
    nextAttemptAt: toIso(nextAttemptAt),
    settledAt: toIso(delivery.settledAt),
  };
}

export function toAttemptJson({ at, durationMs, status, error, answer }: AttemptRecord) {
  return {
    at: toIso(at),
    durationMs,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    ...(answer !== undefined && { answer }),
  };
}

function toIso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
