import 'reflect-metadata'; // wanted by @peculiar/x509, and before it
import * as x509 from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/** For the tests beside it only. Names and addresses in `hosts`; both results in PEM. */
export interface TestAuthority {
  certPem: string;
  issue(hosts: readonly string[]): Promise<{ cert: string; key: string }>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export async function createTestAuthority(): Promise<TestAuthority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=throw-away',
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
  });
  return {
    certPem: authority.toString('pem'),
    async issue(hosts) {
      const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const names = hosts.map((host) => new x509.GeneralName(isIP(host) === 0 ? 'dns' : 'ip', host));
      const certificate = await x509.X509CertificateGenerator.create({
        subject: 'CN=receiver',
        issuer: authority.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [new x509.SubjectAlternativeNameExtension(names)],
      });
      const key = KeyObject.from(own.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
      return { cert: certificate.toString('pem'), key };
    },
  };
}
