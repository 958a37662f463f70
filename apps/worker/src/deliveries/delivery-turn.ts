import {
  draftNotice,
  errorCodeOf,
  isUnanswered,
  type AttemptVerdict,
  type CancelReason,
  type CountedOutcome,
  type Delivery,
  type DeliveryId,
} from '@herald/core';
import type { JobEnd } from '@herald/queue';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { LoadedDelivery, LoadReply } from '@herald/store/deliveries/delivery-record';
import type { DeliveryStore, RecordedAttempt } from '@herald/store/deliveries/delivery-store';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { DeliveryReport } from './create-delivery-report.ts';
import type { MadeAttempt, MakeAttempt } from './make-attempt.ts';

/** A delivery that was reserved from the queue. */
export type DeliveryTurn = {
  readonly id: DeliveryId;
  /** The handle of its lease, which ends with the record of an attempt. */
  readonly lease: string;
  /** It goes through an open breaker. */
  readonly isProbe: boolean;
  /** Its record as the reserve read it; absent: the processor reads it. */
  readonly loaded?: LoadReply | undefined;
};

/** The result of a delivery's turn. */
export type ProcessVerdict =
  /** An attempt was recorded, and the lease ended with it. */
  | { readonly kind: 'recorded'; readonly end: JobEnd }
  /** Nothing was recorded. The delivery leaves the queue, or waits until it is due, as its record says. */
  | { readonly kind: 'finished' }
  /** It waits again where it stood; until `dueAt` (epoch ms), if that is given. */
  | { readonly kind: 'put_back'; readonly dueAt?: number };

export const FINISHED: ProcessVerdict = { kind: 'finished' };
export const PUT_BACK: ProcessVerdict = { kind: 'put_back' };

/** The dependencies of every turn. */
export type TurnDeps = {
  readonly deliveries: DeliveryStore;
  readonly makeAttempt: MakeAttempt;
  /** Deliveries of one group that may be in work, over all workers. */
  readonly groupLimit: number;
  /** Where notices go. Undefined: `NOTICE_URL` is not set, and this worker neither makes nor sends any. */
  readonly platform: EndpointRecord | undefined;
  readonly report: DeliveryReport;
  readonly now: () => number;
};

/** An attempt that counts, with its verdict. */
export type JudgedAttempt = Pick<RecordedAttempt, 'now' | 'gone' | 'isRedelivery' | 'holdUntil' | 'disableAfterMs'> & {
  readonly loaded: LoadedDelivery;
  readonly endpoint: EndpointRecord;
  readonly outcome: CountedOutcome;
  readonly result: MadeAttempt;
  readonly verdict: AttemptVerdict;
};

/** Records an attempt, which ends the lease, and reports it. */
export async function recordAttempt(
  { deliveries, groupLimit, platform, report }: TurnDeps,
  { isProbe, lease }: DeliveryTurn,
  { loaded, endpoint, outcome, result, ...judged }: JudgedAttempt,
): Promise<ProcessVerdict> {
  const { delivery } = loaded;
  const { verdict, now } = judged;
  const { urlChangedAt } = endpoint;
  const attempt = toAttemptRecord(outcome, result);
  // What doesn't count for the endpoint makes no notice about it.
  const mayTell = platform !== undefined && judged.disableAfterMs !== undefined;
  const isTrouble = verdict.kind !== 'delivered' || isTroubled(endpoint);
  const notice = mayTell && isTrouble ? draftNotice(delivery, endpoint, attempt, now) : undefined;
  const end = outcome.kind === 'blocked' ? 'unsent' : isUnanswered(outcome) ? 'unanswered' : 'answered';
  const reply = await deliveries.record({
    ...judged,
    delivery,
    group: endpoint.group,
    attempt,
    isProbe,
    lease,
    groupLimit,
    ...(urlChangedAt !== undefined && { urlChangedAt }),
    ...(end !== 'unsent' && { answered: end === 'answered' }),
    ...(notice && { notice }),
  });
  const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
  const { causeCode } = result;
  report.attempted({ loaded, endpoint, outcome, attempt, reply, reason, now, causeCode });
  if (notice && reply.notice) report.told(notice, reply.notice, endpoint);
  return { kind: 'recorded', end };
}

/**
 * Whether it was failing when the delivery was reserved, or the platform was told so: a success may be its recovery. A
 * notice tells of a failure only after an hour, so one that is made meanwhile is of an endpoint that failed before.
 */
function isTroubled({ toldSince, health }: EndpointRecord): boolean {
  return toldSince !== undefined || health.failingSince !== undefined;
}

/** The entry of an attempt in the delivery's log. */
function toAttemptRecord(outcome: CountedOutcome, { startedAt, durationMs }: MadeAttempt): AttemptRecord {
  const error = errorCodeOf(outcome);
  return {
    at: startedAt,
    durationMs: Math.round(durationMs),
    ...(outcome.kind === 'responded' && { status: outcome.status }),
    ...(outcome.kind === 'responded' && outcome.answer !== '' && { answer: outcome.answer }),
    ...(outcome.kind === 'responded' && outcome.headers && { headers: outcome.headers }),
    ...(outcome.kind === 'responded' && outcome.bodyNote && { bodyNote: outcome.bodyNote }),
    ...(error !== undefined && { error }),
  };
}

/** Cancels a delivery that can't be made any more, and reports it. */
export async function cancelDelivery(
  { deliveries, report, now }: TurnDeps,
  delivery: Pick<Delivery, 'id'> & Partial<Pick<Delivery, 'endpointId'>>,
  reason: CancelReason,
): Promise<ProcessVerdict> {
  report.ended(delivery, 'canceled', reason, await deliveries.cancel(delivery.id, reason, now()));
  return FINISHED;
}
