import { createHash } from 'node:crypto';
import type { BodyNote, CurrentAttemptError } from '../codes/attempt-errors.ts';

type PhaseOf<Code> = Code extends `timeout_${infer Phase}` ? Phase : never;

/** The phase of an attempt in which its total deadline passed. */
export type TimeoutPhase = PhaseOf<CurrentAttemptError>;

/** Why no usable answer came, other than a timeout. */
export type UnreachableReason = Exclude<CurrentAttemptError, `timeout_${string}` | 'address_blocked'>;

/** Headers that explain an answer. */
export const ANSWER_HEADERS = ['content-type', 'retry-after', 'location', 'server', 'www-authenticate'] as const;
/** Those that an answer has. */
export type AnswerHeaders = Readonly<Partial<Record<(typeof ANSWER_HEADERS)[number], string>>>;

/**
 * The outcome of one HTTP request. Everything that a receiver can do is a value here; internal errors are exceptions.
 * `aborted`: the worker stopped and cut off the request, which counts as no attempt.
 */
export type AttemptOutcome =
  | {
      readonly kind: 'responded';
      readonly status: number;
      /** The `Retry-After` header, unparsed. */
      readonly retryAfter?: string;
      /** First 1 KiB of the body, as text. It is as it came: whoever shows it must escape it. */
      readonly answer: string;
      /** See `digestOf`, of the body as far as it was read, where that is not the bytes of `answer`. */
      readonly digest?: string;
      /** Absent when it has none of them. */
      readonly headers?: AnswerHeaders;
      /** What was odd about it. It changes nothing: the status decides. */
      readonly bodyNote?: BodyNote;
    }
  | { readonly kind: 'timed_out'; readonly phase: TimeoutPhase }
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'aborted' };

/** What proves an answer's bytes: the first 32 hexadecimal digits of their SHA-256. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_DIGITS);
}
export const DIGEST_DIGITS = 32;

/** An outcome that counts: anything but `aborted`. */
export type CountedOutcome = Exclude<AttemptOutcome, { kind: 'aborted' }>;

/** The error code of an attempt that got no answer; undefined when a status came back. */
export function errorCodeOf(outcome: CountedOutcome): CurrentAttemptError | undefined {
  switch (outcome.kind) {
    case 'responded':
      return undefined;
    case 'timed_out':
      return `timeout_${outcome.phase}`;
    case 'unreachable':
      return outcome.reason;
    case 'blocked':
      return 'address_blocked';
  }
}

/** The outcome as one word of a closed set: the class of the status (`2xx`), or the error code. */
export function outcomeClassOf(outcome: CountedOutcome): string {
  return outcome.kind === 'responded' ? `${Math.trunc(outcome.status / 100)}xx` : (errorCodeOf(outcome) ?? '');
}

/** Success is any 2xx. */
export function isSuccess(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'responded' && outcome.status >= 200 && outcome.status < 300;
}

/** Whether the endpoint gave no answer, which counts for the concurrency limit and the breaker of its group. */
export function isUnanswered(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'timed_out' || (outcome.kind === 'unreachable' && outcome.reason !== 'malformed_answer');
}

/** 410: the endpoint is gone for good (RFC 9110, 15.5.11). */
export function isGone(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'responded' && outcome.status === 410;
}
