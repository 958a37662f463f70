import type { DeliveryEvent, TaskEventName } from '../events.ts';
import type { DeliveryId, EndpointId, TaskId, TransitionId, WorkspaceId } from '../ids/ids.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One transition that goes to one endpoint. Times are epoch ms. */
export type Delivery = {
  readonly id: DeliveryId;
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  readonly transitionId: TransitionId;
  /** Absent on a test event and on a notice. */
  readonly taskId?: TaskId;
  readonly event: DeliveryEvent;
  /** Of a test event that is a sample: the event that it shows. */
  readonly sampleOf?: TaskEventName;
  readonly status: DeliveryStatus;
  readonly createdAt: number;
  /** Tries of the schedule that were made. */
  readonly tries: number;
  /** When the next try is due; only while pending. */
  readonly nextAttemptAt?: number;
  /** When its schedule began: acceptance, or the last replay. */
  readonly scheduledAt: number;
  readonly settledAt?: number;
  /** Why it failed or was canceled. */
  readonly reason?: string;
  /** Of an ordered one: the sequence of its transition, which is its place among those of its Task to its endpoint. */
  readonly place?: number;
  /** It was sent, or goes now, before those in front of it were settled. */
  readonly isReleased?: true;
  /** Pending redeliveries. */
  readonly owedAttempts: number;
  /** When its body and the texts of its answers were erased. */
  readonly erasedAt?: number;
};
