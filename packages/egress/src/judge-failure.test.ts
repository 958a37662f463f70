import { RequestError } from 'got';
import { BlockedAddressError, DeadlinePassedError, LookupFailedError, ProxyFailedError } from './egress-errors.ts';
import { judgeFailure, judgeTlsFailure, type FailedRequest } from './judge-failure.ts';

const failed = (over: Partial<FailedRequest> = {}): FailedRequest => ({
  phase: 'connect',
  certificateProblem: undefined,
  ...over,
});
const systemError = (code: string) => Object.assign(new Error(code), { code, syscall: 'connect' });
const wrapped = (error: Error) => new RequestError(error.message, error, {} as never);
const unreachable = (reason: string) => ({ kind: 'unreachable', reason });

test.each<[string, Error, unknown]>([
  ['a refused connection', systemError('ECONNREFUSED'), unreachable('connection_refused')],
  ['a reset', systemError('ECONNRESET'), unreachable('connection_reset')],
  ['a broken pipe', systemError('EPIPE'), unreachable('connection_reset')],
  [
    'an end within headers',
    Object.assign(new Error(), { code: 'HPE_INVALID_EOF_STATE' }),
    unreachable('connection_reset'),
  ],
  ['no route to the host', systemError('EHOSTUNREACH'), unreachable('host_unreachable')],
  ['no route to the network', systemError('ENETUNREACH'), unreachable('host_unreachable')],
  ['a connection that the kernel gave up', systemError('ETIMEDOUT'), unreachable('connection_failed')],
  ['a local firewall', systemError('EACCES'), unreachable('connection_failed')],
  [
    'an SSL alert',
    Object.assign(new Error(), { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' }),
    unreachable('tls_failed'),
  ],
  [
    'a wrong name in a certificate',
    Object.assign(new Error(), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    unreachable('tls_name_mismatch'),
  ],
  ['TLS that fails in a write', systemError('EPROTO'), unreachable('tls_failed')],
  [
    'too many header bytes',
    Object.assign(new Error(), { code: 'HPE_HEADER_OVERFLOW' }),
    unreachable('malformed_answer'),
  ],
  ['a blocked address', new BlockedAddressError('10.0.0.1'), { kind: 'blocked' }],
  [
    'a failed look-up',
    new LookupFailedError('x', { cause: systemError('ESERVFAIL') }),
    unreachable('dns_servers_failed'),
  ],
])('%s has its outcome, wrapped by got or not', (_what, error, outcome) => {
  expect(judgeFailure(error, failed())).toEqual(outcome);
  expect(judgeFailure(wrapped(error), failed())).toEqual(outcome);
});

test('a certificate that was not accepted for a reason of its own is tls_failed, whatever OpenSSL calls it', () => {
  const error = Object.assign(new Error('revoked'), { code: 'CERT_REVOKED' });
  expect(judgeFailure(wrapped(error), failed({ certificateProblem: 'CERT_REVOKED' }))).toEqual(
    unreachable('tls_failed'),
  );
});

test.each(['lookup', 'connect', 'tls', 'response'] as const)(
  'a deadline that passed in phase %s is one of it',
  (phase) => {
    expect(judgeFailure(new DeadlinePassedError('late'), failed({ phase }))).toEqual({ kind: 'timed_out', phase });
  },
);

test('a deadline that passed while the proxy was silent is a fault of the proxy', () => {
  const judge = () => judgeFailure(new DeadlinePassedError('late'), failed({ phase: 'proxy' }));
  expect(judge).toThrow(new ProxyFailedError('timed_out'));
});

test.each<[string, Error]>([
  ['a mistake of ours', new TypeError('undefined is not a function')],
  ['a mistake of ours with a code', Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_CHAR' })],
  ['too little memory', systemError('ENOMEM')],
])('%s is thrown as it was', (_what, error) => {
  expect(() => judgeFailure(wrapped(error), failed())).toThrow(error);
});

test.each<[string, Error]>([
  ['a socket', systemError('EMFILE')],
  ['a look-up', new LookupFailedError('x', { cause: systemError('ENFILE') })],
])('no descriptors for %s are a fault of this machine', (_what, error) => {
  expect(() => judgeFailure(wrapped(error), failed())).toThrow('no_descriptors');
});

test('a deadline that passed while the resolver was silent to all is a fault of this machine', () => {
  const judge = () => judgeFailure(new DeadlinePassedError('late'), failed({ phase: 'resolver' }));
  expect(judge).toThrow('resolver_away');
});

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
