import type { Delivery, TransitionId } from '@herald/core';
import { toIdBytes } from '../ids/id-bytes.ts';

/** A settled delivery. Times are epoch ms. */
export type HistoryDelivery = {
  readonly delivery: Delivery;
  /** JSON of each entry of its log, oldest first. */
  readonly attempts: readonly string[];
  readonly changedAt: number;
};

/** A transition, which has the `createdAt` of its deliveries. */
export type HistoryTransition = {
  readonly id: TransitionId;
  readonly createdAt: number;
  readonly sequence?: number;
  readonly sampleOf?: string;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly erasedAt?: number;
  readonly body?: string;
};

export type HistoryBatch = {
  readonly deliveries: readonly HistoryDelivery[];
  readonly transitions: readonly HistoryTransition[];
};

/** Parts of an attempt that tell nothing of what the receiver answered. */
const KEPT = new Set(['', 'at', 'durationMs', 'status', 'error']);

function withoutAnswer(attempt: string): string {
  const kept = (name: string, value: unknown) => (KEPT.has(name) ? value : undefined);
  return JSON.stringify(JSON.parse(attempt, kept));
}

/** The parameters of INSERT_TRANSITIONS. */
export function transitionColumns(transitions: readonly HistoryTransition[], keepsBodies: boolean) {
  return [
    transitions.map(({ createdAt }) => createdAt),
    transitions.map(({ erasedAt }) => erasedAt),
    transitions.map(({ sequence }) => sequence),
    transitions.map(({ id }) => toIdBytes(id)),
    transitions.map(({ sampleOf }) => sampleOf),
    transitions.map(({ requestId }) => requestId),
    transitions.map(({ traceparent }) => traceparent),
    transitions.map(({ body, erasedAt }) => (keepsBodies && erasedAt === undefined ? body : undefined)),
  ];
}

/** The parameters of INSERT_DELIVERIES. */
export function deliveryColumns(rows: readonly HistoryDelivery[], keepsBodies: boolean) {
  const attemptsOf = ({ delivery, attempts }: HistoryDelivery) => {
    // A transition is marked before its deliveries' answers are erased.
    const kept = keepsBodies && delivery.erasedAt === undefined ? attempts : attempts.map(withoutAnswer);
    return `[${kept.join(',')}]`;
  };
  const deliveries = rows.map(({ delivery }) => delivery);
  return [
    deliveries.map(({ createdAt }) => createdAt),
    deliveries.map(({ createdAt, settledAt = createdAt }) => settledAt),
    rows.map(({ changedAt }) => changedAt),
    deliveries.map(({ createdAt, scheduledAt }) => (scheduledAt === createdAt ? undefined : scheduledAt)),
    deliveries.map(({ tries }) => tries),
    deliveries.map(({ place }) => place),
    deliveries.map(({ isReleased = false }) => isReleased),
    deliveries.map(({ id }) => toIdBytes(id)),
    deliveries.map(({ transitionId }) => toIdBytes(transitionId)),
    deliveries.map(({ endpointId }) => endpointId),
    deliveries.map(({ workspaceId }) => workspaceId),
    deliveries.map(({ taskId }) => taskId),
    deliveries.map(({ event }) => event),
    deliveries.map(({ status }) => status),
    deliveries.map(({ reason }) => reason),
    rows.map(attemptsOf),
  ];
}
