import type { AttemptOutcome, UnreachableReason } from '@herald/core';
import { RequestError } from 'got';
import type { DialPhase } from './dial.ts';
import {
  BlockedAddressError,
  DeadlinePassedError,
  DestinationUnreachedError,
  EgressFailedError,
  LookupFailedError,
  OwnFaultError,
  ProxyFailedError,
} from './egress-errors.ts';
import { judgeTlsFailure, type FailedHandshake } from './judge-tls-failure.ts';

/** The request that failed. */
export type FailedRequest = FailedHandshake & {
  /** What it waited for. */
  readonly phase: DialPhase;
};

const REASONS: ReadonlyMap<string, UnreachableReason> = new Map<string, UnreachableReason>([
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'connection_reset'],
  ['ERR_STREAM_DESTROYED', 'connection_reset'],
  ['ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'connection_reset'],
  ['HPE_INVALID_EOF_STATE', 'connection_reset'],
  ['EHOSTUNREACH', 'host_unreachable'],
  ['EHOSTDOWN', 'host_unreachable'],
  ['ENETUNREACH', 'host_unreachable'],
  ['ENETDOWN', 'host_unreachable'],
  ['EADDRNOTAVAIL', 'host_unreachable'],
  ['ERR_SOCKET_CONNECTION_TIMEOUT', 'connection_failed'],
]);

/** This process ran out of a resource. That is not the receiver's fault, and spends no try of its schedule. */
const NO_DESCRIPTORS = new Set(['EMFILE', 'ENFILE']);
const OUR_OWN = new Set(['ENOBUFS', 'ENOMEM']);

/** Turns every way in which a receiver can fail into a value. Throws an error that is not the receiver's fault. */
export function judgeFailure(error: Error, request: FailedRequest): AttemptOutcome {
  const cause = rootOf(error);
  if (cause instanceof DeadlinePassedError) {
    if (request.phase === 'proxy') throw new ProxyFailedError('timed_out');
    if (request.phase === 'resolver') throw new EgressFailedError('resolver_away');
    return { kind: 'timed_out', phase: request.phase };
  }
  if (cause instanceof OwnFaultError) throw cause;
  if (cause instanceof DestinationUnreachedError) return { kind: 'unreachable', reason: cause.reason };
  if (cause instanceof BlockedAddressError) return { kind: 'blocked' };
  for (const code of [codeOf(cause), codeOf(cause.cause)]) {
    if (NO_DESCRIPTORS.has(code)) throw new EgressFailedError('no_descriptors', code);
    if (OUR_OWN.has(code)) throw cause;
  }
  if (cause instanceof LookupFailedError) return judgeLookup(codeOf(cause.cause));
  const reason = reasonOf(cause, request);
  if (reason === undefined) throw cause;
  return { kind: 'unreachable', reason };
}

/** The error that got wraps. */
function rootOf(error: Error): Error {
  let root = error;
  while (root instanceof RequestError && isError(root.cause)) root = root.cause;
  return root;
}

/** By the codes of c-ares and of getaddrinfo. */
function judgeLookup(code: string): AttemptOutcome {
  if (code === 'ETIMEOUT' || code === 'ETIMEDOUT') return { kind: 'timed_out', phase: 'lookup' };
  return { kind: 'unreachable', reason: LOOKUP_REASONS[code] ?? 'dns_servers_failed' };
}

const LOOKUP_REASONS: Readonly<Record<string, UnreachableReason>> = {
  ENOTFOUND: 'dns_name_unknown',
  EAI_NONAME: 'dns_name_unknown',
  EBADNAME: 'dns_name_unknown',
  ENODATA: 'dns_no_address',
  EAI_NODATA: 'dns_no_address',
  // Every family answered, with nothing.
  '': 'dns_no_address',
};

/** OpenSSL's own number and reason: `…:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:…`. */
const OPENSSL_ERROR = /error:([0-9A-F]{8}):[^:]*:[^:]*:([^:]+):/;

/** What operators read of a failure: the code of c-ares, OpenSSL, Node or the system. */
export function causeCodeOf(error: Error): string | undefined {
  const cause = rootOf(error);
  if (cause instanceof DeadlinePassedError || cause instanceof BlockedAddressError) return undefined;
  const code = codeOf(cause instanceof LookupFailedError ? cause.cause : cause);
  // Node calls every error of OpenSSL so that ended a write.
  const [, number, reason] = code === 'EPROTO' ? (OPENSSL_ERROR.exec(cause.message) ?? []) : [];
  if (number !== undefined) return `${number} ${reason}`;
  // Node has no code for some problems of certificates, and OpenSSL a sentence without anything of theirs.
  return code === 'UNSPECIFIED' ? cause.message : code || undefined;
}

function reasonOf(cause: Error, request: FailedRequest): UnreachableReason | undefined {
  const code = codeOf(cause);
  const known = REASONS.get(code) ?? judgeTlsFailure(code, cause.message, request);
  if (known === 'connection_reset' && request.phase === 'tls') return 'tls_reset';
  if (known !== undefined) return known;
  if (code.startsWith('HPE_')) return 'malformed_answer';
  // Only errors of the system have one; a mistake in this program doesn't.
  return 'syscall' in cause ? 'connection_failed' : undefined;
}

function codeOf(error: unknown): string {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** By shape: a test's realm has its own `Error`. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value && 'stack' in value;
}
