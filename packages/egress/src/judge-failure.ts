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
export const NO_DESCRIPTORS = new Set(['EMFILE', 'ENFILE']);
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

type TlsReason = Extract<UnreachableReason, `tls_${string}`>;

/** What Node says of certificates, from OpenSSL's codes. */
const CERTIFICATE_REASONS: Readonly<Record<string, TlsReason>> = {
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_not_yet_valid',
  ERR_TLS_CERT_ALTNAME_FORMAT: 'tls_name_mismatch',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name_mismatch',
  HOSTNAME_MISMATCH: 'tls_name_mismatch',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_self_signed',
  CERT_UNTRUSTED: 'tls_unknown_issuer',
  INVALID_CA: 'tls_unknown_issuer',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_unknown_issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_incomplete_chain',
  INVALID_PURPOSE: 'tls_wrong_purpose',
};

/** OpenSSL's sentences about certificates for which Node has no code of its own. */
const WEAK_CERTIFICATE = /(?:key too weak|digest algorithm too weak|ee key too small|ca key too small|ca md too weak)/i;
const WRONG_PURPOSE = /(?:unsuitable|unsupported|invalid)(?: \w+)? purpose/i;

/** How OpenSSL takes the first bytes of another protocol for a record of TLS. Its text stands in every such error. */
const NOT_TLS = /:(wrong version number|packet length too long|http request):/;

/** Codes that begin so are errors of TLS. `EPROTO` is one that ended a write. */
const TLS_CODE = /^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/;

const PROTOCOL =
  /(alert protocol version|unsupported protocol|no protocols available|no shared cipher|alert insufficient security|no application protocol|dh key too small|bad ecpoint|wrong ssl version|legacy)/i;
const CLIENT_CERTIFICATE =
  /(alert certificate required|alert bad certificate|alert certificate unknown|alert no certificate)/i;
/** The alert of a server that finds nothing in common, or, once it has shown itself, misses a client certificate. */
const HANDSHAKE_FAILURE = /alert handshake failure/i;
/** An alert alone takes seven bytes; a server's first flight is longer than this. */
const ALERT_BYTES = 64;

/** A handshake that failed. */
export type FailedHandshake = {
  /** The code of why the socket did not accept the peer's certificate. */
  readonly certificateProblem: unknown;
  /** Bytes that the server had sent. */
  readonly bytesRead?: number | undefined;
};

/** The reason of a failed TLS handshake; undefined when the error is not of TLS. */
export function judgeTlsFailure(code: string, message: string, handshake: FailedHandshake): TlsReason | undefined {
  const { certificateProblem, bytesRead = 0 } = handshake;
  const ofCertificate = CERTIFICATE_REASONS[code];
  if (ofCertificate !== undefined) return ofCertificate;
  if (certificateProblem || TLS_CODE.test(code)) {
    if (WEAK_CERTIFICATE.test(message)) return 'tls_weak_certificate';
    if (WRONG_PURPOSE.test(message)) return 'tls_wrong_purpose';
  }
  if (!TLS_CODE.test(code)) return certificateProblem ? 'tls_failed' : undefined;
  if (NOT_TLS.test(message)) return 'tls_not_tls';
  if (CLIENT_CERTIFICATE.test(message)) return 'tls_client_certificate';
  if (HANDSHAKE_FAILURE.test(message)) return bytesRead > ALERT_BYTES ? 'tls_client_certificate' : 'tls_protocol';
  return PROTOCOL.test(message) ? 'tls_protocol' : 'tls_failed';
}
