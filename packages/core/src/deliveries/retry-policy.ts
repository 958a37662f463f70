import type { FailureReason } from '../codes/delivery-reasons.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { isCallbackId } from '../ids/ids.ts';
import { isSuccess, type CountedOutcome } from './attempt.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The three forms of RFC 9110, 5.6.7. Date.parse alone would also take "1.5", "2030" and "Soon 3600". */
const HTTP_DATE =
  /^(?:\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;

/** When a delivery is tried again, and when it is given up. */
export type RetryPolicy = {
  /** Wait after the first, second, … failed try, in ms. Its length + 1 is the number of tries. */
  readonly scheduleMs: readonly number[];
  /** Share of a wait by which it is moved at random, either way. */
  readonly jitter: number;
  /** The longest `Retry-After` that is heeded, in ms. */
  readonly retryAfterLimitMs: number;
  /** No try starts later than this after acceptance, in ms. */
  readonly giveUpAfterMs: number;
};

/** 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h: the schedule that Standard Webhooks suggests. */
export const DEFAULT_SCHEDULE_MS: readonly number[] = [
  5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 50_400_000, 72_000_000, 86_400_000,
];

export function createRetryPolicy(scheduleMs: readonly number[] = DEFAULT_SCHEDULE_MS): RetryPolicy {
  return { scheduleMs, jitter: 0.2, retryAfterLimitMs: DAY_MS, giveUpAfterMs: 5 * DAY_MS };
}

/** The policies of a worker. */
export type RetryPolicies = {
  /** Of receivers, and of notices to the platform. */
  readonly usual: RetryPolicy;
  readonly callbacks: RetryPolicy;
};

/** The policy of an endpoint: callbacks have a schedule of their own, and a receiver may want to be given up earlier. */
export function policyOf(
  { id, maxRetryHours }: Pick<Endpoint, 'id' | 'maxRetryHours'>,
  { usual, callbacks }: RetryPolicies,
): RetryPolicy {
  const policy = isCallbackId(id) ? callbacks : usual;
  if (maxRetryHours === undefined) return policy;
  return { ...policy, giveUpAfterMs: Math.min(policy.giveUpAfterMs, maxRetryHours * HOUR_MS) };
}

export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly at: number }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

export type AttemptContext = {
  /** Tries made of the schedule, this one included. */
  readonly tries: number;
  /** Epoch ms of acceptance, or of the replay that began the schedule anew. */
  readonly acceptedAt: number;
  /** Epoch ms at which the attempt ended. */
  readonly now: number;
  /** Uniform in [0, 1): the place of the wait in the jitter's range. */
  readonly random: number;
};

/** Decides what follows from one attempt. */
export function judgeAttempt(outcome: CountedOutcome, context: AttemptContext, policy: RetryPolicy): AttemptVerdict {
  if (isSuccess(outcome)) return { kind: 'delivered' };
  const waitMs = policy.scheduleMs[context.tries - 1];
  if (waitMs === undefined) return { kind: 'failed', reason: 'schedule_exhausted' };
  const jittered = Math.round(waitMs * (1 + policy.jitter * (2 * context.random - 1)));
  const at = Math.max(context.now + jittered, holdUntil(outcome, context.now, policy) ?? 0);
  if (at > context.acceptedAt + policy.giveUpAfterMs) return { kind: 'failed', reason: 'too_old' };
  return { kind: 'retry', at };
}

/** Until when (epoch ms) a 429 or 503 asks with `Retry-After` to be left alone; undefined when it doesn't. */
export function holdUntil(outcome: CountedOutcome, now: number, policy: RetryPolicy): number | undefined {
  const askedMs = retryAfterMs(outcome, now) ?? 0;
  return askedMs > 0 ? now + Math.min(askedMs, policy.retryAfterLimitMs) : undefined;
}

/** How long a 429 or 503 asks to wait, in ms. The header is seconds or an HTTP date (RFC 9110, 10.2.3). */
export function retryAfterMs(outcome: CountedOutcome, now: number): number | undefined {
  if (outcome.kind !== 'responded' || (outcome.status !== 429 && outcome.status !== 503)) return undefined;
  const header = outcome.retryAfter?.trim();
  if (header === undefined || header === '') return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  if (!HTTP_DATE.test(header)) return undefined;
  // The asctime form names no zone: Date.parse alone would read it as local time.
  const at = Date.parse(header.endsWith('GMT') ? header : `${header} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
