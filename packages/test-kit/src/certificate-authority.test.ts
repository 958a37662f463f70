import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { createCertificateAuthority, readCertificateAuthority, type Certificate } from './certificate-authority.ts';

/** The error code of a real handshake, or 'trusted'. */
async function handshake(server: Certificate, ca: Certificate, host: string): Promise<string> {
  const listener = createServer({ cert: server.certPem, key: server.keyPem }).listen(0, '127.0.0.1');
  listener.on('tlsClientError', () => undefined); // the client's side of the story is the one under test
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', ca: ca.certPem, servername: host === '127.0.0.1' ? '' : host });
  try {
    await once(socket, 'secureConnect');
    return 'trusted';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
    listener.close();
  }
}

test.each(['localhost', 'hooks.example.test', '127.0.0.1'])(
  'a certificate for %s passes a real TLS handshake',
  async (host) => {
    const ca = await createCertificateAuthority();
    const server = await ca.issueCertificate({ hosts: ['localhost', 'hooks.example.test', '127.0.0.1', '::1'] });
    await expect(handshake(server, ca, host)).resolves.toBe('trusted');
  },
);

test('a certificate for other hosts is refused', async () => {
  const ca = await createCertificateAuthority();
  const server = await ca.issueCertificate({ hosts: ['hooks.example.test'] });
  await expect(handshake(server, ca, '127.0.0.1')).resolves.toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('a certificate of another authority is refused, even of the same name', async () => {
  const [ca, other] = [await createCertificateAuthority(), await createCertificateAuthority()];
  const server = await other.issueCertificate({ hosts: ['127.0.0.1'] });
  await expect(handshake(server, ca, '127.0.0.1')).resolves.not.toBe('trusted');
});

test('an authority that was kept as PEM goes on issuing certificates that its holders trust', async () => {
  const ca = await createCertificateAuthority();
  const again = await readCertificateAuthority({ certPem: ca.certPem, keyPem: ca.keyPem });
  const server = await again.issueCertificate({ hosts: ['127.0.0.1'] });
  await expect(handshake(server, ca, '127.0.0.1')).resolves.toBe('trusted');
});
