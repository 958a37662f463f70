import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/** Both in PEM; the key is PKCS #8. */
export interface Certificate {
  certPem: string;
  keyPem: string;
}

interface CertificateRequest {
  hosts: readonly string[];
  isForClientsToo?: boolean;
  /** It ended an hour ago. */
  isExpired?: boolean;
  /** It begins in an hour. */
  isNotYetValid?: boolean;
  isForClientsAlone?: boolean;
  /** With a key that nobody should take: RSA of 1024 bits. */
  isWeak?: boolean;
  /** It issues others, which lead to this authority through it. */
  isAuthority?: boolean;
  /** By its own key, and not by this authority. */
  isSelfSigned?: boolean;
}

export interface CertificateAuthority extends Certificate {
  /** A server certificate for these DNS names and IP addresses; on request also valid for a client, or no longer. */
  issueCertificate(request: CertificateRequest): Promise<Certificate>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const WEAK_ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 1_024,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
};
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Loaded only where a certificate is made: it takes 0.15 s. */
async function loadX509() {
  await import('reflect-metadata'); // wanted by @peculiar/x509, and before it
  return await import('@peculiar/x509');
}

/** A new authority, ECDSA P-256, valid for ten years. Keep its `certPem` and `keyPem` to restore it later. */
export async function createCertificateAuthority(name = 'Herald local CA'): Promise<CertificateAuthority> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    keys,
    signingAlgorithm: ALGORITHM,
    ...validFor(3_650 * DAY_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return readCertificateAuthority({ certPem: certificate.toString('pem'), keyPem: await toPem(keys.privateKey) });
}

/** Restores an authority. Throws when the PEM is not one. */
export async function readCertificateAuthority({ certPem, keyPem }: Certificate): Promise<CertificateAuthority> {
  const x509 = await loadX509();
  const authority = new x509.X509Certificate(certPem);
  const der = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
  return {
    certPem,
    keyPem,
    async issueCertificate({
      hosts,
      isForClientsToo,
      isExpired,
      isNotYetValid,
      isForClientsAlone,
      isWeak,
      isAuthority,
      isSelfSigned,
    }) {
      const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
      const keys = await webcrypto.subtle.generateKey(isWeak ? WEAK_ALGORITHM : ALGORITHM, true, ['sign', 'verify']);
      const usages = [
        ...(isForClientsAlone ? [] : [serverAuth]),
        ...(isForClientsToo || isForClientsAlone ? [clientAuth] : []),
      ];
      const subject = [{ CN: [hosts[0] ?? 'nobody'] }];
      const names = hosts.map((host) => new x509.GeneralName(isIP(host) === 0 ? 'dns' : 'ip', host));
      const certificate = await x509.X509CertificateGenerator.create({
        subject,
        issuer: isSelfSigned ? subject : authority.subject,
        publicKey: keys.publicKey,
        signingKey: isSelfSigned ? keys.privateKey : signingKey,
        signingAlgorithm: ALGORITHM,
        ...validFor(isExpired ? -HOUR_MS : 365 * DAY_MS, isNotYetValid ? HOUR_MS : undefined),
        extensions: [
          new x509.BasicConstraintsExtension(isAuthority ?? false, undefined, true),
          new x509.KeyUsagesExtension(
            isAuthority ? x509.KeyUsageFlags.keyCertSign : x509.KeyUsageFlags.digitalSignature,
            true,
          ),
          new x509.ExtendedKeyUsageExtension(usages),
          new x509.SubjectAlternativeNameExtension(names),
          ...(isSelfSigned ? [] : [await x509.AuthorityKeyIdentifierExtension.create(authority)]),
        ],
      });
      return { certPem: certificate.toString('pem'), keyPem: await toPem(keys.privateKey) };
    },
  };
}

/** Valid from a day ago: the clocks of processes under test may be hours behind. */
function validFor(durationMs: number, beginsInMs = -24 * HOUR_MS): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now + beginsInMs), notAfter: new Date(now + durationMs) };
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}
