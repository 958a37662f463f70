import {
  holdUntil,
  isCallbackId,
  isGone,
  isNotice,
  judgeAttempt,
  policyOf,
  type Delivery,
  type RetryPolicies,
} from '@herald/core';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { LoadedDelivery, LoadReply } from '@herald/store/deliveries/delivery-record';
import {
  cancelDelivery,
  FINISHED,
  PUT_BACK,
  recordAttempt,
  type DeliveryTurn,
  type ProcessVerdict,
  type TurnDeps,
} from './delivery-turn.ts';

export type ProcessDeliveryDeps = TurnDeps & {
  readonly retryPolicies: RetryPolicies;
  /** How long an endpoint may fail without one success before it is disabled, in ms. */
  readonly disableAfterMs: number;
  /** The worker reserves nothing new and waits for the sends in flight. */
  readonly isStopping: () => boolean;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/** A delivery may go out so early, in ms: after a failover the clocks of two servers may differ that much. */
const EARLY_TOLERANCE_MS = 50;
/**
 * How long a worker without NOTICE_URL leaves a notice to the others: at least so many ms, and a tenth of its age. Many
 * that wait for days, because no worker has it, must not keep the queue busy.
 */
const LEFT_TO_OTHERS_MS = 10_000;
const LEFT_SHARE_OF_AGE = 0.1;

/** A delivery that may go out now. */
type Admission = { readonly kind: 'attempt'; readonly loaded: LoadedDelivery; readonly endpoint: EndpointRecord };

/**
 * Attempts a delivery whose turn has come. A lease that ends too early makes it run twice, so everything here must be
 * harmless when done twice. A crash before the send loses nothing. A crash between send and record leads to a repeat
 * under the same id. After the record nothing is left to do.
 */
export async function processDelivery(
  deps: ProcessDeliveryDeps,
  turn: DeliveryTurn,
  signal: AbortSignal,
): Promise<ProcessVerdict> {
  const admission = await admit(deps, turn, signal);
  if (admission.kind !== 'attempt') return admission;
  const { loaded, endpoint } = admission;
  const { delivery } = loaded;
  const result = await deps.makeAttempt(loaded, endpoint, signal);
  const { outcome } = result;
  // A stop spends no try: another worker repeats a send that the stop cut off or no longer waited for.
  if (outcome.kind === 'aborted' || (outcome.kind === 'timed_out' && deps.isStopping())) return PUT_BACK;
  const now = deps.now();
  const isTest = delivery.event === 'webhook.test';
  const policy = policyOf(endpoint, deps.retryPolicies);
  // The platform is never disabled: a notice that fails is tried as the schedule says.
  const counts = !isTest && !isNotice(delivery.event);
  const verdict = judgeAttempt(
    outcome,
    { tries: delivery.tries + 1, acceptedAt: delivery.scheduledAt, now, random: deps.random() },
    // A test event that is redelivered is still a test: one attempt, which says nothing about the endpoint's health.
    isTest ? { ...policy, scheduleMs: [] } : policy,
  );
  // Other callbacks of its group have not asked for it. The delivery itself waits: the verdict says until when.
  const hold = isCallbackId(endpoint.id) ? undefined : holdUntil(outcome, now, policy);
  return await recordAttempt(deps, turn, {
    loaded,
    endpoint,
    outcome,
    result,
    verdict,
    now,
    gone: isGone(outcome),
    isRedelivery: delivery.owedAttempts > 0,
    ...(counts && { disableAfterMs: deps.disableAfterMs }),
    ...(hold !== undefined && { holdUntil: hold }),
  });
}

async function admit(
  deps: ProcessDeliveryDeps,
  { id, loaded: read }: DeliveryTurn,
  signal: AbortSignal,
): Promise<Admission | ProcessVerdict> {
  const loaded = addressed(read ?? (await deps.deliveries.load(id)), deps.platform);
  if (loaded.kind === 'missing' || loaded.kind === 'ended') return FINISHED;
  if (loaded.kind === 'body_lost') {
    deps.report.bodyLost(id);
    return await cancelDelivery(deps, { id }, 'body_lost');
  }
  const { delivery, endpoint } = loaded;
  const isRedelivery = delivery.owedAttempts > 0;
  if (delivery.status !== 'pending' && !isRedelivery) return FINISHED;
  if (!endpoint && !isNotice(delivery.event)) return await cancelDelivery(deps, delivery, 'receiver_removed');
  if (endpoint?.enabled === false) return await cancelDelivery(deps, delivery, 'receiver_disabled');
  const now = deps.now();
  if (!isRedelivery && (delivery.nextAttemptAt ?? 0) > now + EARLY_TOLERANCE_MS) return FINISHED;
  const policy = endpoint ? policyOf(endpoint, deps.retryPolicies) : deps.retryPolicies.usual;
  const isTooOld = now > waitsSince(delivery) + policy.giveUpAfterMs;
  if (!isRedelivery && isTooOld) {
    // It waited too long for an endpoint that gave no answers.
    deps.report.ended(delivery, 'failed', 'too_old', await deps.deliveries.giveUp(id, now));
    return FINISHED;
  }
  if (!endpoint) {
    if (isTooOld) return await cancelDelivery(deps, delivery, 'receiver_removed');
    // Other workers may have NOTICE_URL, or this one may get it back: the notice waits until it is too old.
    deps.report.noticeLeft(id);
    const ageMs = now - delivery.scheduledAt;
    return { kind: 'put_back', dueAt: now + Math.max(LEFT_TO_OTHERS_MS, Math.round(ageMs * LEFT_SHARE_OF_AGE)) };
  }
  return signal.aborted ? PUT_BACK : { kind: 'attempt', loaded, endpoint };
}

/** What waited for its turn has all of its time for the first try: it is due since its turn came. */
function waitsSince({ place, tries, scheduledAt, nextAttemptAt }: Delivery): number {
  return place !== undefined && tries === 0 ? Math.max(scheduledAt, nextAttemptAt ?? 0) : scheduledAt;
}

/** A notice's endpoint has no record: it is the platform. */
function addressed(loaded: LoadReply, platform: EndpointRecord | undefined): LoadReply {
  if (loaded.kind !== 'loaded' || !isNotice(loaded.delivery.event) || !platform) return loaded;
  return { ...loaded, endpoint: platform };
}
