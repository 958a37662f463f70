/** Where an attempt was when its total deadline passed. */
export type TimeoutPhase = 'lookup' | 'connect' | 'tls' | 'response' | 'body';

/** Why no usable answer came, other than a timeout. */
export type UnreachableReason =
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_reset'
  | 'host_unreachable'
  | 'tls_failed'
  | 'malformed_answer'
  | 'connection_failed';

/**
 * What one HTTP request came to. Everything a receiver can do is a value here; our internal errors are exceptions.
 * `aborted` is a stop of the worker: the request was cut off and counts as no attempt.
 */
export type AttemptOutcome =
  | {
      readonly kind: 'responded';
      readonly status: number;
      /** The `Retry-After` header as it came, unparsed. */
      readonly retryAfter?: string;
      /** First 1 KiB of the body, as text that is safe to show. */
      readonly answer: string;
    }
  | { readonly kind: 'timed_out'; readonly phase: TimeoutPhase }
  | { readonly kind: 'unreachable'; readonly reason: UnreachableReason }
  | { readonly kind: 'blocked' }
  | { readonly kind: 'aborted' };

/** An outcome that counts: anything but `aborted`. */
export type CountedOutcome = Exclude<AttemptOutcome, { kind: 'aborted' }>;

/** Stable error code of an attempt that got no answer; undefined when a status came back. */
export function errorCodeOf(outcome: CountedOutcome): string | undefined {
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

/** What an attempt came to in one word of a closed set: the class of the status (`2xx`), or the error code. */
export function outcomeClassOf(outcome: CountedOutcome): string {
  return outcome.kind === 'responded' ? `${Math.trunc(outcome.status / 100)}xx` : (errorCodeOf(outcome) ?? '');
}

/** Success is any 2xx. */
export function isSuccess(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'responded' && outcome.status >= 200 && outcome.status < 300;
}

/** Whether the destination itself gave no answer: that is what its share and its breaker go by. */
export function isUnanswered(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'timed_out' || (outcome.kind === 'unreachable' && outcome.reason !== 'malformed_answer');
}

/** 410: the endpoint is gone for good (RFC 9110, 15.5.11). */
export function isGone(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'responded' && outcome.status === 410;
}
