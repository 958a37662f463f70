import {
  holdUntil,
  isGone,
  isUnanswered,
  judgeAttempt,
  type CountedOutcome,
  type Delivery,
  type DeliveryId,
  type EventName,
  type RetryPolicy,
} from '@herald/core';
import type {
  CancelReason,
  DeliveryPlace,
  DeliveryStore,
  EndpointRecord,
  LoadedDelivery,
  LoadReply,
  RecordReply,
} from '@herald/infra';
import type { DestinationGate, SendEnd } from '../isolation/destination-gate.ts';
import type { DeliveryReport } from './create-delivery-report.ts';
import type { MakeAttempt, SendResult } from './make-attempt.ts';
import { toAttemptRecord } from './to-attempt-record.ts';

export type ProcessDeliveryDeps = {
  readonly deliveries: Pick<DeliveryStore, 'load' | 'record' | 'cancel' | 'giveUp'>;
  readonly gate: Pick<DestinationGate, 'enter' | 'leave'>;
  /** Lets the delivery wait for its destination, outside the line. Returns whether it left its place in the line with that. */
  readonly putInBacklog: (
    id: DeliveryId,
    destination: string,
    urgent: boolean,
    place: DeliveryPlace,
  ) => Promise<boolean>;
  /** The destination answered or has room, and others wait for it. */
  readonly pokeBacklog: (destination: string) => void;
  readonly makeAttempt: MakeAttempt;
  readonly retryPolicy: RetryPolicy;
  /** How long an endpoint may fail without one success before it is disabled, in ms. */
  readonly disableAfterMs: number;
  readonly report: Pick<DeliveryReport, 'attempted' | 'ended' | 'bodyLost'>;
  /** The worker takes nothing new and waits for what is in flight. */
  readonly isStopping: () => boolean;
  readonly now: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
};

/** What must become of the delivery's place: none any more, a job at a time (epoch ms), or as it was. */
export type ProcessVerdict =
  /** `hasLeft`: it left its place with the last step that was made for it. */
  | { readonly kind: 'finished'; readonly hasLeft?: boolean }
  | { readonly kind: 'wait'; readonly until: number; readonly event: EventName }
  | { readonly kind: 'put_back' };

/** An early job is let through when it is due within this time: clocks of two machines differ that much, in ms. */
const EARLY_TOLERANCE_MS = 50;

/** When a job looks again whether its delivery is still in work elsewhere, in ms. */
const LOOK_AGAIN_MS = 1_000;

const FINISHED: ProcessVerdict = { kind: 'finished' };
const LEFT: ProcessVerdict = { kind: 'finished', hasLeft: true };

/** A delivery's turn in the line. */
export type LineTurn = {
  readonly place: DeliveryPlace;
  /** What was read of the delivery when the job was fetched. Absent: it is read now. */
  readonly loaded?: LoadReply | undefined;
};

/** What came of an attempt, for the delivery's place and for its destination. */
type Attempted = { readonly verdict: ProcessVerdict; readonly end: SendEnd; readonly hasBacklog: boolean };

/** Whether, and how, a delivery may go out now. */
type Admission =
  | { readonly kind: 'attempt'; readonly loaded: LoadedDelivery; readonly endpoint: EndpointRecord }
  | { readonly kind: 'settled'; readonly verdict: ProcessVerdict };

/**
 * A delivery whose turn has come in the line: attempts it, or lets it wait for its destination outside the line.
 * A stalled job may run twice, so whatever this does must be harmless when done twice. A crash before the send loses
 * nothing; between send and record it leads to a repeat under the same id; after the record the job that comes back
 * finds that it isn't due, or that the delivery is settled.
 */
export async function processFromLine(
  deps: ProcessDeliveryDeps,
  id: DeliveryId,
  signal: AbortSignal,
  { place, loaded: read }: LineTurn,
): Promise<ProcessVerdict> {
  const admission = await admit(deps, id, signal, read);
  if (admission.kind === 'settled') return admission.verdict;
  const { loaded } = admission;
  const { destination, delivery, inBacklogFrom } = loaded;
  const isOwed = delivery.owedAttempts > 0;
  const now = deps.now();
  if (inBacklogFrom !== undefined && !isOwed) {
    // Its place is there, and only one of the two may send: this job is left over, or came before it left the backlog.
    if (inBacklogFrom <= now) return FINISHED;
    return { kind: 'wait', until: Math.min(inBacklogFrom, now + LOOK_AGAIN_MS), event: delivery.event };
  }
  const isHeld = destination.isOpen || destination.holdUntil > now;
  const pass = isHeld || inBacklogFrom !== undefined ? undefined : deps.gate.enter(destination.id);
  if (!pass) {
    const hasLeft = await deps.putInBacklog(id, destination.id, isOwed, place);
    // A redelivery goes first there, and through an open breaker as its probe.
    if (isOwed) deps.pokeBacklog(destination.id);
    return hasLeft ? LEFT : FINISHED;
  }
  let attempted: Attempted = { verdict: FINISHED, end: 'unsent', hasBacklog: false };
  try {
    attempted = await attemptDelivery(deps, admission, { isProbe: false, place }, signal);
    return attempted.verdict;
  } finally {
    deps.gate.leave(pass, attempted.end);
    if (attempted.hasBacklog) deps.pokeBacklog(destination.id);
  }
}

/** A delivery's turn in a destination's backlog. */
export type BacklogTurn = {
  readonly id: DeliveryId;
  readonly destination: string;
  readonly isProbe: boolean;
  /** What was read of the delivery when it was taken. Absent: it is read now. */
  readonly loaded?: LoadReply | undefined;
};

/** A delivery that was taken from its destination's backlog, which has room for it: attempts it. */
export async function processFromBacklog(
  deps: ProcessDeliveryDeps,
  { id, destination, isProbe, loaded: read }: BacklogTurn,
  signal: AbortSignal,
): Promise<Attempted> {
  const unsent = (verdict: ProcessVerdict): Attempted => ({ verdict, end: 'unsent', hasBacklog: false });
  const admission = await admit(deps, id, signal, read);
  if (admission.kind === 'settled') return unsent(admission.verdict);
  const { delivery, destination: current } = admission.loaded;
  // Its endpoint got another url: it no longer waits for this destination, whose state says nothing of the new one's.
  if (current.id !== destination) return unsent({ kind: 'wait', until: 0, event: delivery.event });
  return await attemptDelivery(deps, admission, { isProbe, place: { kind: 'backlog' } }, signal);
}

async function admit(
  deps: ProcessDeliveryDeps,
  id: DeliveryId,
  signal: AbortSignal,
  read?: LoadReply,
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
  const isOwed = delivery.owedAttempts > 0;
  if (delivery.status !== 'pending' && !isOwed) return settled(FINISHED);
  if (!endpoint?.enabled) return await cancel(delivery, endpoint ? 'receiver_disabled' : 'receiver_removed');
  const dueAt = delivery.nextAttemptAt ?? 0;
  if (!isOwed && dueAt > deps.now() + EARLY_TOLERANCE_MS)
    return settled({ kind: 'wait', until: dueAt, event: delivery.event });
  if (!isOwed && deps.now() > delivery.scheduledAt + deps.retryPolicy.giveUpAfterMs) {
    // It waited too long for a destination that gave no answers.
    deps.report.ended(delivery, 'failed', 'too_old', await deps.deliveries.giveUp(id, deps.now()));
    return settled(FINISHED);
  }
  if (signal.aborted) return settled({ kind: 'put_back' });
  return { kind: 'attempt', loaded, endpoint };
}

/** Whether an attempt goes through an open breaker, and what it is made for. */
type AttemptTurn = { readonly isProbe: boolean; readonly place: DeliveryPlace };

async function attemptDelivery(
  deps: ProcessDeliveryDeps,
  { loaded, endpoint }: Extract<Admission, { kind: 'attempt' }>,
  turn: AttemptTurn,
  signal: AbortSignal,
): Promise<Attempted> {
  const result = await deps.makeAttempt(loaded, endpoint, signal);
  const { outcome } = result;
  // A stop spends no try: what it cut off, or what it didn't wait for any longer, is somebody else's to make.
  if (outcome.kind === 'aborted' || (outcome.kind === 'timed_out' && deps.isStopping()))
    return { verdict: { kind: 'put_back' }, end: 'unsent', hasBacklog: false };
  const reply = await record(deps, loaded, endpoint, outcome, result, turn);
  return {
    verdict: afterRecord(loaded.delivery, reply),
    hasBacklog: reply.hasBacklog,
    end: outcome.kind === 'blocked' ? 'unsent' : isUnanswered(outcome) ? 'unanswered' : 'answered',
  };
}

type Recorded = RecordReply & { readonly retryAt?: number };

async function record(
  deps: ProcessDeliveryDeps,
  loaded: LoadedDelivery,
  endpoint: EndpointRecord,
  outcome: CountedOutcome,
  result: SendResult,
  { isProbe, place }: AttemptTurn,
): Promise<Recorded> {
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
    ...{ delivery, destination, attempt, verdict, now, isProbe, place },
    ...(outcome.kind !== 'blocked' && { answered: !isUnanswered(outcome) }),
    gone: isGone(outcome),
    wasOwed: delivery.owedAttempts > 0,
    ...(!isTest && { disableAfterMs: deps.disableAfterMs }),
    ...(hold !== undefined && { holdUntil: hold }),
  });
  const reason = verdict.kind === 'failed' ? verdict.reason : undefined;
  deps.report.attempted({ loaded, endpoint, outcome, attempt, reply, reason, now });
  return { ...reply, ...(verdict.kind === 'retry' && { retryAt: verdict.at }) };
}

/** Where the delivery belongs now. A redelivery that was asked for meanwhile is made at once. */
function afterRecord(delivery: Delivery, { kind, status, owedAttempts, retryAt, hasLeft }: Recorded): ProcessVerdict {
  const { event } = delivery;
  if (owedAttempts > 0) return { kind: 'wait', until: 0, event };
  if (status !== 'pending') return hasLeft === true ? LEFT : FINISHED;
  // Superseded: somebody else's attempt set the due time; the job that comes back finds it in the record.
  const until = kind === 'recorded' ? retryAt : delivery.nextAttemptAt;
  return { kind: 'wait', until: until ?? 0, event };
}
