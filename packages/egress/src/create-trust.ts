import { constants, X509Certificate } from 'node:crypto';
import { createSecureContext, DEFAULT_CIPHERS, getCACertificates, type SecureContext } from 'node:tls';

/**
 * A server chooses what a handshake costs its client, before it has shown a certificate. A group of 10,000 bits for DHE
 * takes 2.8 s of the event loop, and a new handshake on the same connection may be asked for again and again. Go's client
 * and rustls have neither.
 */
const BOUNDED = { ciphers: `${DEFAULT_CIPHERS}:!DHE`, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };

/**
 * The authorities to trust: the usual ones, and one more. Make one for all connections: to read the authorities for each
 * takes longer than the handshake.
 */
export function createTrust(caPem: string | undefined): SecureContext {
  const ca = caPem === undefined ? undefined : [...getCACertificates('default'), checkPem(caPem)];
  return createSecureContext({ ...BOUNDED, ...(ca && { ca }) });
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** When the first of these authorities ends, epoch ms; undefined where none tells. */
export function findTrustEnd(caPem: string): number | undefined {
  const ends = [...caPem.matchAll(CERTIFICATE)].map(([pem]) => Date.parse(new X509Certificate(pem).validTo));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/**
 * OpenSSL silently ignores a file without a certificate, and every delivery would fail later.
 * @throws when it begins with none
 */
export function checkPem(pem: string): string {
  try {
    return new X509Certificate(pem).toString() && pem;
  } catch (cause) {
    throw new Error('an additional certificate authority is not a PEM certificate', { cause });
  }
}
