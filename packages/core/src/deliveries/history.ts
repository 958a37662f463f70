import type { DeliveryEvent } from '../events.ts';
import type { DeliveryId, EndpointId, TaskId, TransitionId, WorkspaceId } from '../ids/ids.ts';
import type { Delivery, DeliveryStatus } from './delivery.ts';

/** A place in a list: the time of acceptance (epoch ms), and the id of a delivery. */
export type ListPlace = { readonly at: number; readonly id: DeliveryId };

/** A settled delivery, as history has it. */
export type PastDelivery = {
  readonly delivery: Delivery;
  /** As `writeAttempt` writes them, oldest first. */
  readonly attempts: readonly string[];
};

/** A settled delivery, as lists of the history have it. */
export type ListedPast = {
  readonly delivery: Delivery;
  /** The last attempt, as `writeAttempt` writes it. Absent: there was none. */
  readonly last?: string;
};

/** A transition of which history has a delivery. */
export type PastTransition = {
  /** Absent: history doesn't keep it, or it was erased. */
  readonly body?: string;
  readonly requestId?: string;
  readonly traceparent?: string;
  /** The endpoints of those deliveries that history has. */
  readonly endpointIds: readonly EndpointId[];
};

/** What of a delivery leads to its transition. */
export type TransitionOf = Pick<Delivery, 'workspaceId' | 'transitionId' | 'createdAt'>;

/** Which deliveries, newest first: those after the place `after`, and none after `upTo`. */
export type HistoryQuery = {
  readonly workspaceId: WorkspaceId;
  readonly endpointId?: EndpointId | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: DeliveryEvent | undefined;
  /** Of acceptance, epoch ms. */
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  readonly after?: ListPlace | undefined;
  readonly upTo?: ListPlace | undefined;
  readonly limit: number;
};

/** The deliveries of an endpoint that were accepted in a time. */
export type HistoryRange = {
  readonly workspaceId: WorkspaceId;
  readonly endpointId: EndpointId;
  /** Epoch ms. */
  readonly since: number;
  /** Exclusive. */
  readonly until: number;
};

/** `next`: it has looked no further than this place. Absent: to the end. */
export type HistoryPage = { readonly found: readonly ListedPast[]; readonly next?: ListPlace };

/** As many transitions as a Task can have. */
export const TASK_TRANSITIONS = 10_000;

/** A Task's transition: its place among those of the Task, and its id. */
export type PastSequence = { readonly sequence: number; readonly transitionId: TransitionId };

/**
 * Reads settled deliveries that have left Redis, and some that have not. What has left Redis before a call is found by
 * it: read Redis first. Each throws HistoryUnavailableError when the answer would take too long.
 */
export type HistoryReader = {
  findOwnerOfTask(id: TaskId): Promise<WorkspaceId | undefined>;
  findOwner(id: DeliveryId): Promise<WorkspaceId | undefined>;
  find(workspaceId: WorkspaceId, id: DeliveryId): Promise<PastDelivery | undefined>;
  findTransition(delivery: TransitionOf): Promise<PastTransition | undefined>;
  list(query: HistoryQuery): Promise<HistoryPage>;
  /** Those behind the place `after`, whose time and id are the next greater ones. */
  listOldestFirst(
    range: HistoryRange & { readonly after?: ListPlace | undefined },
    limit: number,
  ): Promise<readonly PastDelivery[]>;
  /** At most a million. */
  count(range: HistoryRange): Promise<number>;
  /** The transitions of a Task that Redis has forgotten, newest first; those before a place. */
  listSequences(
    workspaceId: WorkspaceId,
    taskId: TaskId,
    limit: number,
    before?: number,
  ): Promise<readonly PastSequence[]>;
  listOfTransitions(
    workspaceId: WorkspaceId,
    taskId: TaskId,
    ids: readonly TransitionId[],
  ): Promise<readonly ListedPast[]>;
};

/** Entries of the audit trail, the newest first. */
export type AuditQuery = {
  readonly workspaceId?: WorkspaceId | undefined;
  readonly by?: string | undefined;
  /** Epoch ms, inclusive. */
  readonly since?: number | undefined;
  /** The id of an entry, exclusive: goes on from there. */
  readonly before?: string | undefined;
  readonly limit: number;
};

/** A settled delivery as it moves to history. Times are epoch ms. */
export type MovedDelivery = PastDelivery & {
  /** When it changed last: of two versions the later one stays. */
  readonly changedAt: number;
};

/** A transition as it moves, which has the `createdAt` of its deliveries. */
export type MovedTransition = {
  readonly id: TransitionId;
  readonly createdAt: number;
  readonly sequence?: number;
  readonly sampleOf?: string;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly erasedAt?: number;
  readonly body?: string;
};

/** What moves together. */
export type MovedBatch = {
  readonly deliveries: readonly MovedDelivery[];
  readonly transitions: readonly MovedTransition[];
};
