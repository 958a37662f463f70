import {
  holdUntil,
  isGone,
  isUnanswered,
  judgeAttempt,
  type CountedOutcome,
  type DeliveryId,
  type RetryPolicy,
} from '@herald/core';
import type { CancelReason, DeliveryStore } from '@herald/store/deliveries/delivery-store';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { LoadedDelivery, LoadReply } from '@herald/store/deliveries/delivery-record';
import type { JobEnd } from '@herald/queue';
import type { DeliveryReport } from './create-delivery-report.ts';
import type { MakeAttempt, SendResult } from './make-attempt.ts';
import { toAttemptRecord } from './to-attempt-record.ts';

export type ProcessDeliveryDeps = {
  readonly deliveries: Pick<DeliveryStore, 'load' | 'record' | 'cancel' | 'giveUp'>;
  readonly makeAttempt: MakeAttempt;
  readonly retryPolicy: RetryPolicy;
  /** Deliveries of one destination that may be in work, over all workers. */
  readonly destinationLimit: number;
  /** How long an endpoint may fail without one success before it is disabled, in ms. */
  readonly disableAfterMs: number;
  readonly report: Pick<DeliveryReport, 'attempted' | 'ended' | 'bodyLost'>;
  /** The worker takes nothing new and waits for what is in flight. */
  readonly isStopping: () => boolean;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/** A delivery that was reserved from the queue. */
export type DeliveryTurn = {
  readonly id: DeliveryId;
  /** Its lease, which ends with the record of an attempt. */
  readonly lease: string;
  /** It goes through an open breaker. */
  readonly isProbe: boolean;
  /** What was read of it when it was reserved; absent: it is read now. */
  readonly loaded?: LoadReply | undefined;
};

/** What became of a delivery's turn. */
export type ProcessVerdict =
  /** An attempt was recorded, and the lease ended with it. */
  | { readonly kind: 'recorded'; readonly end: JobEnd }
  /** Nothing was recorded: it leaves, or waits until it is due, as its record says. */
  | { readonly kind: 'finished' }
  /** It waits again where it stood. */
  | { readonly kind: 'put_back' };

/**
 * A delivery is let through when it is due within this time: clocks of
 * two servers may differ that much after a failover, in ms.
 */
const EARLY_TOLERANCE_MS = 50;

const FINISHED: ProcessVerdict = { kind: 'finished' };

/** Whether, and how, a delivery may go out now. */
type Admission =
  | { readonly kind: 'attempt'; readonly loaded: LoadedDelivery; readonly endpoint: EndpointRecord }
  | { readonly kind: 'settled'; readonly verdict: ProcessVerdict };

/**
 * Attempts a delivery whose turn has come. A lease that ends too early makes it run twice, so whatever this does must be
 * harmless when done twice. A crash before the send loses nothing; between send and record it leads to a repeat under the
 * same id; after the record nothing is left to do.
 */
export async function processDelivery(
  deps: ProcessDeliveryDeps,
  turn: DeliveryTurn,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const admission = await admit(deps, turn, signal);
  if (admission.kind === 'settled') return admission.verdict;
  const { loaded, endpoint } = admission;
  const result = await deps.makeAttempt(loaded, endpoint, signal);
  const { outcome } = result;
  // A stop spends no try: what it cut off, or what it didn't wait for any longer, is somebody else's to make.
  if (outcome.kind === 'aborted' || (outcome.kind === 'timed_out' && deps.isStopping())) return { kind: 'put_back' };
  await record(deps, loaded, endpoint, outcome, result, turn);
  const end = outcome.kind === 'blocked' ? 'unsent' : isUnanswered(outcome) ? 'unanswered' : 'answered';
  return { kind: 'recorded', end };
}

async function admit(
  deps: ProcessDeliveryDeps,
  { id, loaded: read }: DeliveryTurn,
  signal: AbortSignal,
): Promise<Admission> {
  const settled = (verdict: ProcessVerdict): Admission => ({ kind: 'settled', verdict });
  const cancel = async (delivery: { id: DeliveryId; endpointId?: string }, reason: CancelReason) => {
    deps.report.ended(delivery, 'canceled', reason, await deps.deliveries.cancel(id, reason, deps.now()));
    return settled(FINISHED);
  };
  const loaded = read ?? (await deps.deliveries.load(id));
  if (loaded.kind === 'missing') return settled(FINISHED);
  if (loaded.kind === 'body_lost') {
    deps.report.bodyLost(id);
    return await cancel({ id }, 'body_lost');
  }
  const { delivery, endpoint } = loaded;
  const isRedelivery = delivery.owedAttempts > 0;
  if (delivery.status !== 'pending' && !isRedelivery) return settled(FINISHED);
  if (!endpoint?.enabled) return await cancel(delivery, endpoint ? 'receiver_disabled' : 'receiver_removed');
  const dueAt = delivery.nextAttemptAt ?? 0;
  if (!isRedelivery && dueAt > deps.now() + EARLY_TOLERANCE_MS) return settled(FINISHED);
  if (!isRedelivery && deps.now() > delivery.scheduledAt + deps.retryPolicy.giveUpAfterMs) {
    // It waited too long for a destination that gave no answers.
    deps.report.ended(delivery, 'failed', 'too_old', await deps.deliveries.giveUp(id, deps.now()));
    return settled(FINISHED);
  }
  if (signal.aborted) return settled({ kind: 'put_back' });
  return { kind: 'attempt', loaded, endpoint };
}

async function record(
  deps: ProcessDeliveryDeps,
  loaded: LoadedDelivery,
  endpoint: EndpointRecord,
  outcome: CountedOutcome,
  result: SendResult,
  { isProbe, lease }: DeliveryTurn,
): Promise<void> {
  const { delivery, destination } = loaded;
  const now = deps.now();
  const isTest = delivery.event === 'webhook.test';
  const verdict = judgeAttempt(
    outcome,
    { tries: delivery.tries + 1, acceptedAt: delivery.scheduledAt, now, random: deps.random() },
    // A test event that is redelivered is still a test: one attempt, which says nothing about the endpoint's health.
    isTest ? { ...deps.retryPolicy, scheduleMs: [] } : deps.retryPolicy,
  );
  const hold = holdUntil(outcome, now, deps.retryPolicy);
  const attempt = toAttemptRecord(outcome, result);
  const reply = await deps.deliveries.record({
    delivery,
    destination,
    attempt,
    verdict,
    now,
    isProbe,
    lease,
    destinationLimit: deps.destinationLimit,
    ...(outcome.kind !== 'blocked' && { answered: !isUnanswered(outcome) }),
    gone: isGone(outcome),
    isRedelivery: delivery.owedAttempts > 0,
    ...(!isTest && { disableAfterMs: deps.disableAfterMs }),
    ...(hold !== undefined && { holdUntil: hold }),
  });
  const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
  deps.report.attempted({ loaded, endpoint, outcome, attempt, reply, reason, now });
}
