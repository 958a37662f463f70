import { judgeTlsFailure } from './judge-tls-failure.ts';

const OPENSSL = '00C8A1:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:rec_layer.c:354:';

test.each<{
  code: string;
  message?: string;
  certificateProblem?: string;
  bytesRead?: number;
  reason: string | undefined;
}>([
  { code: 'CERT_HAS_EXPIRED', certificateProblem: 'CERT_HAS_EXPIRED', reason: 'tls_expired' },
  { code: 'CERT_NOT_YET_VALID', certificateProblem: 'CERT_NOT_YET_VALID', reason: 'tls_not_yet_valid' },
  { code: 'ERR_TLS_CERT_ALTNAME_INVALID', reason: 'tls_name_mismatch' },
  { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', reason: 'tls_self_signed' },
  { code: 'SELF_SIGNED_CERT_IN_CHAIN', reason: 'tls_unknown_issuer' },
  { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', reason: 'tls_unknown_issuer' },
  { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', reason: 'tls_incomplete_chain' },
  { code: 'CERT_REVOKED', certificateProblem: 'CERT_REVOKED', reason: 'tls_failed' },
  { code: 'ERR_SSL_WRONG_VERSION_NUMBER', message: OPENSSL, reason: 'tls_not_tls' },
  { code: 'EPROTO', message: `write EPROTO ${OPENSSL}`, reason: 'tls_not_tls' },
  { code: 'EPROTO', reason: 'tls_failed' },
  {
    code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    message: 'alert handshake failure',
    bytesRead: 7,
    reason: 'tls_protocol',
  },
  { code: 'EPROTO', message: 'alert handshake failure', bytesRead: 900, reason: 'tls_client_certificate' },
  { code: 'ERR_TLS_HANDSHAKE_TIMEOUT', reason: 'tls_failed' },
  { code: 'ECONNREFUSED', reason: undefined },
  { code: '', reason: undefined },
])(
  '$code with the certificate problem $certificateProblem is $reason',
  ({ code, message, certificateProblem, bytesRead, reason }) => {
    expect(judgeTlsFailure(code, message ?? '', { certificateProblem, bytesRead })).toBe(reason);
  },
);
