import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/**
 * The authorities to trust: the usual ones, and one more. Make one for all connections: to read the authorities for each
 * takes longer than the handshake.
 */
export function createTrust(caPem: string | undefined): SecureContext {
  return createSecureContext(caPem === undefined ? {} : { ca: [...getCACertificates('default'), checkPem(caPem)] });
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
