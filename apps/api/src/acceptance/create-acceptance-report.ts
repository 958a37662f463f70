import type { DomainError, TaskEventName, TaskId, TaskStatus, TransitionId, WorkspaceId } from '@herald/core';
import type { AcceptanceMetrics } from '../metrics/create-acceptance-metrics.ts';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { Logger } from '@herald/runtime/log/logger';

/** What the acceptance of a transition led to. */
export type Acceptance = {
  readonly transitionId: TransitionId;
  readonly taskId: TaskId;
  readonly workspaceId: WorkspaceId;
  /** Of the Task, from then on. */
  readonly status: TaskStatus;
  /** The fact was known before. */
  readonly duplicate: boolean;
  /** Absent when it emits nothing. */
  readonly event?: TaskEventName;
  readonly deliveries: number;
  /** Of these: canceled at once, because their endpoint is disabled. */
  readonly canceled: number;
};

/** Tells operators what was reported: in the log, line by line at level debug, and in the metrics. */
export type AcceptanceReport = {
  /** After the commit. */
  readonly accepted: (acceptance: Acceptance) => void;
  readonly refused: (taskId: TaskId, fault: DomainError) => void;
};

export type AcceptanceReportDeps = {
  readonly logger: Logger;
  readonly acceptance: Pick<AcceptanceMetrics, 'accepted' | 'repeated' | 'refused'>;
  readonly deliveries: Pick<DeliveryMetrics, 'created' | 'settled'>;
};

export function createAcceptanceReport({ logger, acceptance, deliveries }: AcceptanceReportDeps): AcceptanceReport {
  return {
    accepted({ transitionId, taskId, workspaceId, status, duplicate, event, ...counts }) {
      if (duplicate) acceptance.repeated();
      else acceptance.accepted(event);
      if (event && counts.deliveries > 0) deliveries.created(event, counts.deliveries);
      if (event && counts.canceled > 0) {
        deliveries.settled({ event, status: 'canceled', reason: 'receiver_disabled' }, counts.canceled);
      }
      logger.debug(duplicate ? 'transition.repeated' : 'transition.accepted', {
        transitionId,
        taskId,
        workspaceId,
        taskStatus: status,
        event,
        ...counts,
      });
    },
    refused(taskId, { code }) {
      acceptance.refused(code);
      logger.debug('transition.refused', { taskId, code });
    },
  };
}
