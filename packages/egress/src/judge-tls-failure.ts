import type { UnreachableReason } from '@herald/core';

type TlsReason = Extract<UnreachableReason, `tls_${string}`>;

/** What Node and OpenSSL say of certificates. A self-signed one, or one without its intermediates, leads nowhere. */
const CERTIFICATE_REASONS: Readonly<Record<string, TlsReason>> = {
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  ERR_TLS_CERT_ALTNAME_FORMAT: 'tls_name_mismatch',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name_mismatch',
  HOSTNAME_MISMATCH: 'tls_name_mismatch',
  CERT_UNTRUSTED: 'tls_untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
};

/** How OpenSSL takes the first bytes of another protocol for a record of TLS. Its text stands in every such error. */
const NOT_TLS = /:(wrong version number|packet length too long|http request):/;

/** Codes that begin so are errors of TLS. `EPROTO` is one that ended a write. */
const TLS_CODE = /^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/;

/**
 * The reason of a failed TLS handshake; undefined when the error is not of TLS.
 * @param certificateProblem the code of why the socket did not accept the peer's certificate
 */
export function judgeTlsFailure(code: string, message: string, certificateProblem: unknown): TlsReason | undefined {
  const ofCertificate = CERTIFICATE_REASONS[code];
  if (ofCertificate !== undefined) return ofCertificate;
  if (!TLS_CODE.test(code)) return certificateProblem ? 'tls_failed' : undefined;
  return NOT_TLS.test(message) ? 'tls_not_tls' : 'tls_failed';
}
