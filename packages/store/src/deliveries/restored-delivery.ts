import { isCallbackId, type PastDelivery, type PastTransition } from '@herald/core';

/** What `RESTORE_LUA` writes of a delivery, as JSON. Every number is a string, so that it stays as it is. */
export function toRestored({ delivery, attempts }: PastDelivery, transition: PastTransition): string {
  const { id, workspaceId, endpointId, transitionId, taskId, event, sampleOf, createdAt } = delivery;
  const { status, tries, scheduledAt, settledAt, reason, place, isReleased, erasedAt } = delivery;
  const { requestId, traceparent, endpointIds } = transition;
  return JSON.stringify({
    id,
    workspace: workspaceId,
    endpoint: endpointId,
    transition: transitionId,
    event,
    task: taskId,
    at: String(createdAt),
    isCallback: isCallbackId(endpointId),
    isErased: erasedAt !== undefined,
    attempts,
    deliveries: endpointIds.length,
    fields: toFields({
      x: transitionId,
      e: endpointId,
      s: status,
      n: tries,
      at: createdAt,
      from: scheduledAt === createdAt ? undefined : scheduledAt,
      end: settledAt,
      why: reason,
      o: place,
      rel: isReleased && 1,
    }),
    transitionFields: toFields({
      ev: event,
      ws: workspaceId,
      task: taskId,
      at: createdAt,
      req: requestId,
      eps: endpointIds.join(','),
      trace: traceparent,
      as: sampleOf,
    }),
  });
}

function toFields(values: Readonly<Record<string, string | number | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
}
