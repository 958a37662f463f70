import type { UnreachableReason } from '@herald/core';

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
