import type { DeliveryDescription } from '@herald/store/operators/describe-delivery';

/** Facts in the order in which they are read; absent ones are left out. */
export type Facts = Readonly<Record<string, string | number>>;

/** A delivery as the board shows it. */
export function toFacts({ delivery, host, endpointState, attempts, lastOutcome }: DeliveryDescription): Facts {
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
    ...(nextAttemptAt !== undefined && { nextTry: toIso(nextAttemptAt) }),
    accepted: toIso(delivery.createdAt),
    ...(settledAt !== undefined && { settled: toIso(settledAt) }),
  };
}

export function toTitle({ delivery, host }: DeliveryDescription): string {
  return `${delivery.event} → ${host ?? '(removed)'}`;
}

export function toIso(at: number): string {
  return new Date(at).toISOString();
}
