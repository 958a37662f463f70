import {
  isSuccess,
  outcomeClassOf,
  type CountedOutcome,
  type Delivery,
  type DeliveryEvent,
  type DeliveryId,
  type NoticeDraft,
  type NoticeEvent,
} from '@herald/core';
import { createLogLimit, type LogFields, type Logger } from '@herald/runtime/log';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { DeliveryMetrics } from '@herald/store/deliveries/create-delivery-metrics';
import type { LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { EndReply, RecordReply } from '@herald/store/deliveries/delivery-store';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { PurgedDelivery } from '@herald/store/bulk/purge-store';
import { Gauge, Histogram } from '@prometheus-io/client';

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

/** A delivery whose record is lost has no endpoint and no workspace. */
export type EndedDelivery = Pick<Delivery, 'id'> & Partial<Pick<Delivery, 'endpointId' | 'workspaceId'>>;

export type DeliveryReportDeps = {
  readonly logger: Logger;
  readonly deliveries: DeliveryMetrics;
  readonly attempts: Pick<AttemptMetrics, 'attempted' | 'delivered' | 'breakerChanged'>;
};

/**
 * Failures of one group that are logged in full in one window, and changes of its endpoints; the rest is logged at
 * level debug. Each Task may have a callback, so a workspace may have very many endpoints.
 */
const LINES = 20;
const WINDOW_MS = 10_000;
/** A notice that waits for NOTICE_URL is looked at again and again: one line in this time tells of all, in ms. */
const LEFT_WINDOW_MS = 60_000;

/**
 * Reports the course of deliveries to operators, in the log and in the metrics. Each fact is reported once, by the
 * call that made it a fact, after Redis has confirmed that it is written.
 */
export function createDeliveryReport({ logger, deliveries, attempts }: DeliveryReportDeps) {
  const createLimit = () =>
    createLogLimit(LINES, WINDOW_MS, ({ owner: workspaceId, subject: group, lines }) => {
      logger.info('endpoint.failures_not_logged', { workspaceId, group, lines, withinMs: WINDOW_MS });
    });
  const [failures, changes] = [createLimit(), createLimit()];
  /** Failures don't count for what follows from them. */
  const logChange = (level: 'info' | 'warn', event: string, of: EndpointRecord, fields: LogFields): void => {
    logger[changes.admits(of.group, of.workspaceId) ? level : 'debug'](event, fields);
  };
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
      logChange('warn', 'endpoint.disabled', endpoint, { ...ids, host: hostOf(endpoint), reason: reply.disabled });
    }
    if (reply.breaker) {
      attempts.breakerChanged(reply.breaker);
      const facts = { group: endpoint.group, endpointId: endpoint.id, workspaceId, host: hostOf(endpoint) };
      if (reply.breaker === 'opened') logChange('warn', 'endpoint.breaker_opened', endpoint, facts);
      else logChange('info', 'endpoint.breaker_closed', endpoint, facts);
    }
  };
  return {
    attempted(made: ReportedAttempt): void {
      const { loaded, outcome, attempt, reply } = made;
      attempts.attempted(loaded.delivery.event, outcome, attempt.durationMs);
      const level = levelOf(made);
      const isWritten = level === 'debug' || failures.admits(made.endpoint.group, made.endpoint.workspaceId);
      logger[isWritten ? level : 'debug']('delivery.attempted', toFields(made));
      reportFollowing({ ...made, reason: reply.disabled ? 'receiver_disabled' : made.reason });
    },
    /** Ended without an attempt. */
    ended(
      { id, endpointId, workspaceId }: EndedDelivery,
      status: 'failed' | 'canceled',
      reason: string,
      reply: EndReply,
    ): void {
      if (reply.kind !== 'ended') return;
      deliveries.settled({ status, reason, ...(reply.event && { event: reply.event }) });
      const level = failures.admits(endpointId ?? reason, workspaceId) ? 'info' : 'debug';
      logger[level]('delivery.ended', { deliveryId: id, workspaceId, endpointId, event: reply.event, status, reason });
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
      logChange('info', 'notice.created', endpoint, {
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
      failures.close();
      changes.close();
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

/** Seconds: from loopback to the longest timeout in use. */
const SEND_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** Seconds: from the first try to the last one of the default schedule. */
const LATENCY_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400, 432_000,
];

/** Counts the sends of a worker and their outcomes. */
export function createAttemptMetrics(registry: MetricsRegistry) {
  const registers = [registry];
  const attempts = createCounter(
    registry,
    'herald_attempts_total',
    'Requests made, by the class of the status or the error code that came of them.',
    ['event', 'outcome'],
  );
  const breakers = createCounter(
    registry,
    'herald_breaker_changes_total',
    "Receivers' breakers that opened, and that closed again.",
    ['to'],
    [{ to: 'opened' }, { to: 'closed' }],
  );
  const duration = new Histogram({
    name: 'herald_send_duration_seconds',
    help: 'Duration of one request to an endpoint.',
    labelNames: ['outcome'] as const,
    buckets: SEND_BUCKETS,
    registers,
  });
  const latency = new Histogram({
    name: 'herald_delivery_latency_seconds',
    help: 'Time from acceptance (or replay) of a transition to its delivery, of what was delivered.',
    labelNames: ['event'] as const,
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const counts = new Map<number, () => number>();
  new Gauge({
    name: 'herald_sends_in_flight',
    help: 'Sends in flight in this worker.',
    labelNames: ['shard'],
    registers,
    collect() {
      for (const [shard, count] of counts) this.set({ shard: String(shard) }, count());
    },
  });
  return {
    attempted(event: DeliveryEvent, outcome: CountedOutcome, durationMs: number): void {
      attempts({ event, outcome: outcomeClassOf(outcome) });
      duration.observe({ outcome: isSuccess(outcome) ? 'success' : 'failure' }, durationMs / 1_000);
    },
    /** @param latencyMs since acceptance, or since the replay that set it pending again; below 0 where clocks differ */
    delivered(event: DeliveryEvent, latencyMs: number): void {
      latency.observe({ event }, Math.max(0, latencyMs) / 1_000);
    },
    breakerChanged(to: 'opened' | 'closed'): void {
      breakers({ to });
    },
    /** Shows the sends in flight of a shard. Every scrape calls `count`. */
    watchInFlight(shard: number, count: () => number): void {
      counts.set(shard, count);
    },
  };
}
export type AttemptMetrics = ReturnType<typeof createAttemptMetrics>;
