import type { DomainError, TaskEventName, TaskId, TaskStatus, TransitionId, WorkspaceId } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import type { RedeliveryReport } from '@herald/store/lists/delivery-log';
import type { CanceledByErasure } from '@herald/store/tasks/payload-eraser';
import type { TestEventReport } from '@herald/store/test-events/send-test-event';
import { type ApiMetrics, NO_EVENT } from './metrics.ts';

/** The result of an accepted transition. */
type Acceptance = {
  readonly transitionId: TransitionId;
  readonly taskId: TaskId;
  readonly workspaceId: WorkspaceId;
  /** The status of the Task after the transition. */
  readonly status: TaskStatus;
  /** The fact was known before. */
  readonly duplicate: boolean;
  /** Absent when it emits nothing. */
  readonly event?: TaskEventName;
  readonly deliveries: number;
  /** How many of these are canceled at once, because their endpoint is disabled. */
  readonly canceled: number;
};

/** Tells operators of what happened, in the log and in the metrics. */
export function createReports(logger: Logger, { acceptance, deliveries }: ApiMetrics) {
  const testEvents: TestEventReport = {
    created({ deliveryId, transitionId, endpointId, workspaceId, sampleOf }) {
      deliveries.created('webhook.test', 1);
      logger.info('test_event.created', { deliveryId, transitionId, endpointId, workspaceId, sampleOf });
    },
    withdrawn({ deliveryId, endpointId }, reply) {
      if (reply.kind !== 'ended') return;
      const facts = { event: 'webhook.test', status: 'canceled', reason: 'not_sent_in_time' } as const;
      deliveries.settled(facts);
      logger.info('delivery.ended', { deliveryId, endpointId, ...facts });
    },
    ended(endpointId, outcome) {
      acceptance.testSent({ outcome: outcome ? (outcome.delivered ? 'delivered' : 'not_delivered') : 'unavailable' });
      if (!outcome) logger.warn('test_event.unanswered', { endpointId });
    },
  };
  const redeliveries: RedeliveryReport = {
    requested() {
      acceptance.redeliveryRequested({});
    },
  };
  return {
    testEvents,
    redeliveries,
    /** Each transition is one line of the log, at level debug. */
    transitions: {
      /** Call it after the commit. */
      accepted({ transitionId, taskId, workspaceId, status, duplicate, event, ...counts }: Acceptance) {
        if (duplicate) acceptance.repeated({});
        else acceptance.accepted({ event: event ?? NO_EVENT });
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
      /** The caller sees to it that this is called once per Task. */
      differed({ transitionId, taskId, workspaceId }: Pick<Acceptance, 'transitionId' | 'taskId' | 'workspaceId'>) {
        logger.warn('transition.differs', { transitionId, taskId, workspaceId });
      },
      refused(taskId: TaskId, { code }: DomainError) {
        acceptance.refused({ code });
        logger.debug('transition.refused', { taskId, code });
      },
    },
    payloadsErased: (canceled: readonly CanceledByErasure[]) => {
      for (const { event, count } of canceled) {
        deliveries.settled({ event, status: 'canceled', reason: 'payload_erased' }, count);
      }
    },
    replayRequested: () => {
      acceptance.replayRequested({});
    },
  };
}
export type Reports = ReturnType<typeof createReports>;
