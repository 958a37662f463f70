import {
  createCertificateAuthority,
  readCertificateAuthority,
  RECEIVER_HOSTS,
  type Certificate,
  type CertificateAuthority,
} from '@herald/test-kit';
import { readFileSync } from 'node:fs';

interface SharedAuthority extends Certificate {
  readonly receiver: Certificate;
}

/** An authority, and a certificate of it for all receivers. */
export async function makeSharedAuthority(): Promise<SharedAuthority> {
  const made = await createCertificateAuthority();
  const receiver = await made.issueCertificate({ hosts: RECEIVER_HOSTS });
  return { certPem: made.certPem, keyPem: made.keyPem, receiver };
}

/** The authority of this run, which jest's global setup has made; without it a new one. */
export async function openSharedAuthority(): Promise<CertificateAuthority> {
  const file = process.env.HERALD_TEST_AUTHORITY;
  if (file === undefined) return await createCertificateAuthority();
  const { receiver, ...shared } = JSON.parse(readFileSync(file, 'utf8')) as SharedAuthority;
  return {
    ...shared,
    async issueCertificate(request) {
      // Receivers need no library for certificates.
      if (request.hosts === RECEIVER_HOSTS) return receiver;
      return await (await readCertificateAuthority(shared)).issueCertificate(request);
    },
  };
}
