import { isSuccess, type CountedOutcome, type DeliveryId, type NoticeDraft, type NoticeEvent } from '@herald/core';
import type { AttemptMetrics } from '../metrics/create-attempt-metrics.ts';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { EndReply, RecordReply } from '@herald/store/deliveries/delivery-store';
import type { Logger } from '@herald/runtime/log/logger';
import type { PurgedDelivery } from '@herald/store/purges/purge-store';
import { createLogLimit } from '@herald/runtime/log/create-log-limit';

/** An attempt, and its effect on the delivery. */
export type ReportedAttempt = {
  readonly loaded: LoadedDelivery;
  readonly endpoint: EndpointRecord;
  readonly outcome: CountedOutcome;
  readonly attempt: AttemptRecord;
  readonly reply: RecordReply;
  /** Why it failed, when it did. */
  readonly reason?: string | undefined;
  /** For operators: why there was no answer, as c-ares, OpenSSL, Node or the system calls it. */
  readonly causeCode?: string | undefined;
  /** Epoch ms. */
  readonly now: number;
};

export type DeliveryReportDeps = {
  readonly logger: Logger;
  readonly deliveries: DeliveryMetrics;
  readonly attempts: Pick<AttemptMetrics, 'attempted' | 'delivered' | 'breakerChanged'>;
};

/** Failures of one endpoint that are logged in full in one window; the rest is logged at level debug. */
const LINES = 20;
const WINDOW_MS = 10_000;
/** A notice that waits for NOTICE_URL is looked at again and again: one line in this time tells of all, in ms. */
const LEFT_WINDOW_MS = 60_000;

/**
 * Reports the course of deliveries to operators, in the log and in the metrics. Each fact is reported once, by the
 * call that made it a fact, after Redis has confirmed that it is written.
 */
export function createDeliveryReport({ logger, deliveries, attempts }: DeliveryReportDeps) {
  const limit = createLogLimit(LINES, WINDOW_MS, (endpointId, lines) => {
    logger.info('endpoint.failures_not_logged', { endpointId, lines, withinMs: WINDOW_MS });
  });
  const leftLimit = createLogLimit(1, LEFT_WINDOW_MS, () => undefined);
  const reportFollowing = ({ loaded, endpoint, reply, reason, now }: ReportedAttempt) => {
    const { event, workspaceId, scheduledAt } = loaded.delivery;
    const ids = { endpointId: endpoint.id, workspaceId };
    if (reply.change === 'recovered') deliveries.recovered(event);
    if (reply.change === 'settled' && reply.status !== undefined && reply.status !== 'pending') {
      deliveries.settled({ event, status: reply.status, ...(reason !== undefined && { reason }) });
      if (reply.status === 'delivered') attempts.delivered(event, now - scheduledAt);
    }
    if (reply.disabled) {
      deliveries.endpointDisabled(reply.disabled);
      logger.warn('endpoint.disabled', { ...ids, host: hostOf(endpoint), reason: reply.disabled });
    }
    if (reply.breaker) {
      attempts.breakerChanged(reply.breaker);
      const facts = { group: endpoint.group, endpointId: endpoint.id, workspaceId, host: hostOf(endpoint) };
      if (reply.breaker === 'opened') logger.warn('endpoint.breaker_opened', facts);
      else logger.info('endpoint.breaker_closed', facts);
    }
  };
  return {
    attempted(made: ReportedAttempt): void {
      const { loaded, outcome, attempt, reply } = made;
      attempts.attempted(loaded.delivery.event, outcome, attempt.durationMs);
      const level = levelOf(made);
      const isWritten = level === 'debug' || limit.admits(made.endpoint.id);
      logger[isWritten ? level : 'debug']('delivery.attempted', toFields(made));
      reportFollowing({ ...made, reason: reply.disabled ? 'receiver_disabled' : made.reason });
    },
    /** Ended without an attempt. */
    ended(
      { id, endpointId }: { readonly id: DeliveryId; readonly endpointId?: string },
      status: 'failed' | 'canceled',
      reason: string,
      reply: EndReply,
    ): void {
      if (reply.kind !== 'ended') return;
      deliveries.settled({ status, reason, ...(reply.event && { event: reply.event }) });
      const level = limit.admits(endpointId ?? reason) ? 'info' : 'debug';
      logger[level]('delivery.ended', { deliveryId: id, endpointId, event: reply.event, status, reason });
    },
    purged: (endpointId: string, purged: readonly PurgedDelivery[]): void => {
      const byFacts = Map.groupBy(purged, ({ event, reason }) => `${event ?? ''} ${reason}`);
      for (const [first, ...rest] of byFacts.values()) {
        if (!first) continue;
        const { event, reason } = first;
        deliveries.settled({ status: 'canceled', reason, ...(event && { event }) }, rest.length + 1);
      }
      for (const { id, event, reason } of purged) {
        logger.debug('delivery.ended', { deliveryId: id, endpointId, event, status: 'canceled', reason });
      }
    },
    /** An attempt changed the state of an endpoint, and a notice tells the platform. */
    told({ deliveryId, transitionId }: NoticeDraft, event: NoticeEvent, endpoint: EndpointRecord): void {
      const { id: endpointId, workspaceId } = endpoint;
      deliveries.created(event, 1);
      logger.info('notice.created', {
        event,
        deliveryId,
        transitionId,
        endpointId,
        workspaceId,
        host: hostOf(endpoint),
      });
    },
    noticeLeft(deliveryId: DeliveryId): void {
      if (leftLimit.admits('notices')) logger.warn('notice.not_configured', { deliveryId });
    },
    bodyLost(id: DeliveryId): void {
      logger.error('delivery.body_lost', { deliveryId: id });
    },
    /** Tells of what was not logged so far. */
    close: (): void => {
      limit.close();
      leftLimit.close();
    },
  };
}

export type DeliveryReport = Omit<ReturnType<typeof createDeliveryReport>, 'close'>;

/**
 * Success needs no line in operation. A delivery that ended without arriving weighs more than one that is tried again.
 */
function levelOf({ loaded, outcome, reply }: ReportedAttempt): 'debug' | 'info' | 'warn' {
  if (isSuccess(outcome)) return 'debug';
  const isLost = reply.change === 'settled' && reply.status === 'failed';
  return isLost && loaded.delivery.event !== 'webhook.test' ? 'warn' : 'info';
}

/** One wide line. It omits the path and query of the url: people put tokens there. */
function toFields({ loaded: { delivery, requestId }, endpoint, attempt, reply, causeCode }: ReportedAttempt) {
  const followed = reply.status === 'pending' ? 'retry' : (reply.status ?? reply.kind);
  return {
    deliveryId: delivery.id,
    transitionId: delivery.transitionId,
    taskId: delivery.taskId,
    workspaceId: delivery.workspaceId,
    requestId,
    endpointId: endpoint.id,
    host: hostOf(endpoint),
    event: delivery.event,
    attempt: delivery.tries + 1,
    status: attempt.status,
    error: attempt.error,
    cause: causeCode,
    bodyNote: attempt.bodyNote,
    durationMs: attempt.durationMs,
    sinceAcceptanceMs: Math.round(attempt.at + attempt.durationMs - delivery.createdAt),
    verdict: reply.kind === 'recorded' ? followed : reply.kind,
  };
}

function hostOf({ url }: EndpointRecord): string | undefined {
  return URL.parse(url)?.host;
}
