import type { UnreachableReason } from '@herald/core';

/** The destination has an address that the policy doesn't allow. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'ERR_ADDRESS_BLOCKED';
}

/** The destination's name has no address. `cause` is the resolver's error, if there was one. */
export class LookupFailedError extends Error {
  override readonly name = 'LookupFailedError';
  readonly code = 'ERR_LOOKUP_FAILED';
}

/** Why the platform's own proxy made no tunnel. */
export const PROXY_FAILURES = [
  'lookup_failed',
  'connect_failed',
  'tls_failed',
  'timed_out',
  'closed',
  'malformed_answer',
  'unauthenticated',
  'refused',
] as const;
export type ProxyFailure = (typeof PROXY_FAILURES)[number];

/**
 * The platform's own proxy is away or refuses, which is no fault of the receiver. The message has neither credentials
 * nor a text of the proxy.
 */
export class ProxyFailedError extends Error {
  override readonly name = 'ProxyFailedError';
  readonly code = 'ERR_PROXY_FAILED';
  readonly reason: ProxyFailure;
  /** A code of the system, or a status. */
  readonly detail: string | undefined;

  constructor(reason: ProxyFailure, detail?: string) {
    super(`the proxy of EGRESS_PROXY_URL failed: ${reason}${detail ? ` (${detail})` : ''}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** The deadline of a request passed before its tunnel was open. */
export class DeadlinePassedError extends Error {
  override readonly name = 'DeadlinePassedError';
  readonly code = 'ERR_DEADLINE_PASSED';
}

/** The proxy works, and says that it could not reach the destination. */
export class DestinationUnreachedError extends Error {
  override readonly name = 'DestinationUnreachedError';
  readonly code = 'ERR_DESTINATION_UNREACHED';
  readonly reason: UnreachableReason;

  constructor(reason: UnreachableReason, status: number) {
    super(`the proxy could not reach the destination (status ${status})`);
    this.reason = reason;
  }
}
