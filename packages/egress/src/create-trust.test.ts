import { createCertificateAuthority } from '@herald/test-kit';
import { X509Certificate } from 'node:crypto';
import { findTrustEnd } from './create-trust.ts';

test('the authority that ends first tells when trust ends', async () => {
  const authority = await createCertificateAuthority();
  const { certPem: last } = authority;
  const { certPem: first } = await authority.issueCertificate({ hosts: ['localhost'] });
  const endOf = (pem: string) => Date.parse(new X509Certificate(pem).validTo);
  expect(endOf(first)).toBeLessThan(endOf(last));
  expect([findTrustEnd(`${last}\n${first}`), findTrustEnd(last)]).toEqual([endOf(first), endOf(last)]);
  expect(findTrustEnd('no certificate')).toBeUndefined();
});
