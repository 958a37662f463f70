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

/**
 * Nothing went out, and no receiver is at fault: it spends no try. The message has neither credentials nor a text of
 * others.
 */
export abstract class OwnFaultError extends Error {
  abstract readonly reason: string;
  /** A code of the system, or a status. */
  readonly detail: string | undefined;

  constructor(message: string, detail?: string) {
    super(`${message}${detail ? ` (${detail})` : ''}`);
    this.detail = detail;
  }
}

/** Why this machine itself can send nothing. */
export const EGRESS_FAILURES = [
  'resolver_away',
  'resolver_refuses',
  'no_route',
  'no_descriptors',
  'no_authorities',
] as const;
export type EgressFailure = (typeof EGRESS_FAILURES)[number];

/** This machine, its network or its resolver can't send. */
export class EgressFailedError extends OwnFaultError {
  override readonly name = 'EgressFailedError';
  readonly code = 'ERR_EGRESS_FAILED';
  readonly reason: EgressFailure;

  constructor(reason: EgressFailure, detail?: string) {
    super(`this machine can send nothing: ${reason}`, detail);
    this.reason = reason;
  }
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

/** The platform's own proxy is away or refuses. */
export class ProxyFailedError extends OwnFaultError {
  override readonly name = 'ProxyFailedError';
  readonly code = 'ERR_PROXY_FAILED';
  readonly reason: ProxyFailure;

  constructor(reason: ProxyFailure, detail?: string) {
    super(`the proxy of EGRESS_PROXY_URL failed: ${reason}`, detail);
    this.reason = reason;
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
