import { hash } from 'node:crypto';
import type { DeliveryEvent, TaskEventName } from '../events.ts';
import {
  isCallbackId,
  toBase32,
  type DeliveryId,
  type EndpointId,
  type TaskId,
  type TransitionId,
  type WorkspaceId,
} from '../ids/ids.ts';

const DAY_MS = 86_400_000;

/** Total deadline of one attempt, unless `DELIVERY_TIMEOUT` sets another, in ms. */
export const DEFAULT_DELIVERY_TIMEOUT_MS = 15_000;
/** How long an endpoint may fail without one success, unless `DISABLE_AFTER` sets another time, in ms. */
export const DEFAULT_DISABLE_AFTER_MS = 5 * DAY_MS;
/** An endpoint is not disabled before it has failed this often in a row, however old the first failure is. */
export const DISABLE_AT_FAILURES = 10;

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

/** 80 bits that name (controller workspace, URL origin). */
export type OriginId = string;

const DIGEST_BYTES = 10;

/** The same for urls of one workspace that have one origin. Those of two workspaces never share one. */
export function originOf(workspaceId: WorkspaceId, url: string): OriginId {
  return toBase32(hash('sha256', `${workspaceId} ${new URL(url).origin}`, 'buffer').subarray(0, DIGEST_BYTES));
}

/**
 * The group of the queue in which deliveries to an endpoint wait, with a limit, a breaker, a pause and a rate of its own.
 * A receiver is a group. The callbacks of a workspace to one origin are one: there may be as many as Tasks.
 * @param origin of the endpoint's url
 */
export function groupOf(id: EndpointId, origin: OriginId): string {
  return isCallbackId(id) ? origin : id;
}
