import {
  createSigningKey,
  deliveryHeaders,
  digestOf,
  draftNotice,
  errorCodeOf,
  holdUntil,
  isCallbackId,
  isGone,
  isNotice,
  isUnanswered,
  judgeAttempt,
  policyOf,
  signatureHeaders,
  type AttemptOutcome,
  type AttemptVerdict,
  type CancelReason,
  type CountedOutcome,
  type Delivery,
  type DeliveryId,
  type OwnHeaders,
  type RetryPolicies,
  type SigningKey,
} from '@herald/core';
import type { SendResult, Sender } from '@herald/egress/create-sender';
import { cutText, KEPT_BYTES, KEPT_HEADER_BYTES } from '@herald/egress/start-exchange';
import type { JobEnd } from '@herald/queue';
import { createBoundedMap } from '@herald/runtime/async';
import type { TraceSpan, Tracing } from '@herald/runtime/create-tracing';
import type { AttemptRecord } from '@herald/store/deliveries/attempt-record';
import type { LoadReply, LoadedDelivery } from '@herald/store/deliveries/delivery-record';
import type { DeliveryStore, RecordedAttempt } from '@herald/store/deliveries/delivery-store';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import type { SecretCipher } from '@herald/store/secrets/secret-cipher';
import type { DeliveryReport, EndedDelivery } from './report.ts';

/** A delivery that was reserved from the queue. */
export type DeliveryTurn = {
  readonly id: DeliveryId;
  /** The handle of its lease, which ends with the record of an attempt, or with the delivery. */
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
/** Shorter texts are no credentials, and may be anywhere in an answer. */
const HIDDEN_FROM_CHARACTERS = 8;
/** Texts of endpoints that are remembered decrypted. */
const REMEMBERED_TEXTS = 2_000;

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
  turn: DeliveryTurn,
  signal: AbortSignal,
): Promise<Admission | ProcessVerdict> {
  const { id, loaded: read } = turn;
  const loaded = addressed(read ?? (await deps.deliveries.load(id)), deps.platform);
  if (loaded.kind === 'missing' || loaded.kind === 'ended') return FINISHED;
  if (loaded.kind === 'body_lost') {
    deps.report.bodyLost(id);
    return await cancelDelivery(deps, turn, { id }, 'body_lost');
  }
  const { delivery, endpoint } = loaded;
  const isRedelivery = delivery.owedAttempts > 0;
  if (delivery.status !== 'pending' && !isRedelivery) return FINISHED;
  if (!endpoint && !isNotice(delivery.event)) return await cancelDelivery(deps, turn, delivery, 'receiver_removed');
  if (endpoint?.enabled === false) return await cancelDelivery(deps, turn, delivery, 'receiver_disabled');
  const now = deps.now();
  if (!isRedelivery && (delivery.nextAttemptAt ?? 0) > now + EARLY_TOLERANCE_MS) return FINISHED;
  const policy = endpoint ? policyOf(endpoint, deps.retryPolicies) : deps.retryPolicies.usual;
  const isTooOld = now > waitsSince(delivery) + policy.giveUpAfterMs;
  if (!isRedelivery && isTooOld) {
    // It waited too long for an endpoint that gave no answers.
    deps.report.ended(delivery, 'failed', 'too_old', await deps.deliveries.giveUp(id, now, turn));
    return FINISHED;
  }
  if (!endpoint) {
    if (isTooOld) return await cancelDelivery(deps, turn, delivery, 'receiver_removed');
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

export type MakeAttemptDeps = {
  readonly send: Sender['send'];
  readonly signingKeyOf: (encrypted: string, endpointId: string) => SigningKey;
  readonly ownHeadersOf: (encrypted: string, endpointId: string) => OwnHeaders;
  /** Undefined: no traces. */
  readonly tracing: Tracing | undefined;
  /** Whether requests carry the `traceparent` header (W3C Trace Context). */
  readonly sendsTraceparent: boolean;
  readonly now: () => number;
};

export type MadeAttempt = SendResult & {
  /** Epoch ms. The request's `webhook-timestamp` is of this time. */
  readonly startedAt: number;
  /** Ids of the keys that it was signed with, that of the newest secret first. */
  readonly keyIds: readonly string[];
};

/** Signs a delivery and sends it once. Throws only on internal errors, such as a secret that can't be decrypted. */
export function createMakeAttempt(deps: MakeAttemptDeps) {
  const { send, signingKeyOf, ownHeadersOf, tracing, sendsTraceparent, now } = deps;
  return async function makeAttempt(
    { delivery, body, traceparent }: LoadedDelivery,
    endpoint: EndpointRecord,
    signal?: AbortSignal,
  ): Promise<MadeAttempt> {
    const startedAt = now();
    const { id, encryptedSecret, previousSecret, encryptedHeaders } = endpoint;
    const keys = {
      current: signingKeyOf(encryptedSecret, id),
      ...(previousSecret &&
        previousSecret.until > startedAt && { previous: signingKeyOf(previousSecret.encrypted, id) }),
    };
    const ownHeaders = encryptedHeaders === undefined ? undefined : ownHeadersOf(encryptedHeaders, id);
    const span = tracing?.startAttempt(`deliver ${delivery.event}`, traceparent, attributesOf(delivery, endpoint));
    const event = delivery.sampleOf ?? delivery.event;
    const headers = {
      ...ownHeaders,
      ...deliveryHeaders(delivery, startedAt),
      ...(sendsTraceparent && span?.traceparent !== undefined && { traceparent: span.traceparent }),
      ...signatureHeaders({ id: delivery.id, event, body, now: startedAt }, keys),
    };
    const result = await endingWith(span, send({ url: endpoint.url, headers, body }, signal));
    const outcome = ownHeaders ? hideOwnHeaders(result.outcome, ownHeaders) : result.outcome;
    const keyIds = [keys.current, keys.previous].flatMap((key) => (key ? [key.id] : []));
    return { ...result, outcome, startedAt, keyIds };
  };
}
export type MakeAttempt = ReturnType<typeof createMakeAttempt>;

function attributesOf({ id, transitionId, taskId, workspaceId, tries }: Delivery, endpoint: EndpointRecord) {
  return {
    'herald.delivery_id': id,
    'herald.transition_id': transitionId,
    'herald.workspace_id': workspaceId,
    ...(taskId !== undefined && { 'herald.task_id': taskId }),
    'herald.endpoint_id': endpoint.id,
    'http.request.resend_count': tries,
    'http.request.method': 'POST',
    'server.address': new URL(endpoint.url).host,
  };
}

async function endingWith(span: TraceSpan | undefined, sending: Promise<SendResult>): Promise<SendResult> {
  if (span === undefined) return await sending;
  try {
    const result = await sending;
    const { outcome } = result;
    const status = outcome.kind === 'responded' ? outcome.status : undefined;
    span.end({
      failed: status === undefined || status < 200 || status > 299,
      attributes: {
        'herald.outcome': outcome.kind,
        ...(status !== undefined && { 'http.response.status_code': status }),
      },
    });
    return result;
  } catch (error) {
    span.end({ failed: true, attributes: { 'herald.outcome': 'internal_error' } });
    throw error;
  }
}

/**
 * An outcome in which the answer doesn't repeat the endpoint's own headers: some servers send back what they got, and
 * answers are kept and shown. A value is hidden, and so is a word of it, such as the token after `Bearer`. What stands
 * for it is no longer than what may be kept of an answer.
 */
export function hideOwnHeaders(outcome: AttemptOutcome, ownHeaders: OwnHeaders): AttemptOutcome {
  const labels = new Map<string, string>();
  for (const [name, value] of Object.entries(ownHeaders)) {
    for (const word of [value, ...value.split(/[ \t]+/)]) {
      for (const text of [word, JSON.stringify(word).slice(1, -1)]) {
        if (text.length >= HIDDEN_FROM_CHARACTERS && !labels.has(text)) labels.set(text, `[${name}]`);
      }
    }
  }
  if (outcome.kind !== 'responded' || labels.size === 0) return outcome;
  const { answer, headers } = outcome;
  const shown = hideTexts(answer, labels, KEPT_BYTES);
  return {
    ...outcome,
    answer: shown,
    // It proves what came, not what is shown of it.
    ...(shown !== answer && { digest: outcome.digest ?? digestOf(answer) }),
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, text]) => [name, hideTexts(text, labels, KEPT_HEADER_BYTES)]),
      ),
    }),
  };
}

/** All of them are looked for in what came: a label may be a part of another text, and must not be looked at. */
function hideTexts(answer: string, labels: ReadonlyMap<string, string>, mostBytes: number): string {
  const found = [...labels].flatMap(([text, label]) => findText(answer, text).map((place) => ({ ...place, label })));
  if (found.length === 0) return answer;
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  let [shown, end] = ['', 0];
  for (const place of found) {
    if (place.start >= end) shown += answer.slice(end, place.start) + place.label;
    end = Math.max(end, place.end);
  }
  return cutText(shown + answer.slice(end), mostBytes);
}

/** Where a text stands, and the part that is left of it where the answer was cut. */
function findText(answer: string, text: string): readonly { readonly start: number; readonly end: number }[] {
  const places = [];
  for (let start = answer.indexOf(text); start !== -1; start = answer.indexOf(text, start + text.length)) {
    places.push({ start, end: start + text.length });
  }
  for (let length = Math.min(text.length - 1, answer.length); length >= HIDDEN_FROM_CHARACTERS; length--) {
    if (!answer.endsWith(text.slice(0, length))) continue;
    places.push({ start: answer.length - length, end: answer.length });
    break;
  }
  return places;
}

/**
 * Remembers what encrypted texts of endpoints stand for. A secret that was changed or re-encrypted is another text, so
 * an entry is never stale. One that can't be decrypted is not remembered.
 */
export function createDecryptedCache<Value>(decrypt: (encrypted: string, endpointId: string) => Value) {
  const values = createBoundedMap<string, { readonly value: Value }>(REMEMBERED_TEXTS);
  return (encrypted: string, endpointId: string): Value => {
    const name = `${endpointId} ${encrypted}`;
    const known = values.get(name);
    if (known) return known.value;
    const value = decrypt(encrypted, endpointId);
    values.set(name, { value });
    return value;
  };
}

/** Remembers the keys of encrypted secrets: to decrypt and prepare a key costs more than to sign. */
export function createSigningKeyCache(decryptSecret: SecretCipher['decrypt']) {
  return createDecryptedCache((encrypted, endpointId) => createSigningKey(decryptSecret(encrypted, endpointId)));
}

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
function toAttemptRecord(
  outcome: CountedOutcome,
  { startedAt, durationMs, address, keyIds }: MadeAttempt,
): AttemptRecord {
  const error = errorCodeOf(outcome);
  return {
    at: startedAt,
    durationMs: Math.round(durationMs),
    ...(outcome.kind === 'responded' && { status: outcome.status }),
    ...(outcome.kind === 'responded' && outcome.answer !== '' && { answer: outcome.answer }),
    ...(outcome.kind === 'responded' && outcome.headers && { headers: outcome.headers }),
    ...(outcome.kind === 'responded' && outcome.bodyNote && { bodyNote: outcome.bodyNote }),
    ...(error !== undefined && { error }),
    ...(address !== undefined && { address, keyIds }),
    ...(outcome.kind === 'responded' && outcome.digest !== undefined && { digest: outcome.digest }),
  };
}

/** Cancels a delivery that can't be made any more, which ends the lease, and reports it. */
export async function cancelDelivery(
  { deliveries, report, now }: TurnDeps,
  turn: DeliveryTurn,
  delivery: EndedDelivery,
  reason: CancelReason,
): Promise<ProcessVerdict> {
  report.ended(delivery, 'canceled', reason, await deliveries.cancel(delivery.id, reason, now(), turn));
  return FINISHED;
}
