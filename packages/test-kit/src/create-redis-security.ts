import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificateAuthority } from './certificate-authority.ts';

/** TLS and a password for Redis servers, which then announce themselves as `localhost`. */
export interface RedisSecurity {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** The password of servers and Sentinels. */
  readonly password: string;
}

/** A temporary authority and its certificate for `localhost`, as files in the caller's folder. */
export async function createRedisSecurity(dir: string): Promise<RedisSecurity> {
  const ca = await createCertificateAuthority();
  // The nodes of a cluster ask each other for one.
  const { certPem, keyPem } = await ca.issueCertificate({ hosts: ['localhost'], isForClientsToo: true });
  const write = async (name: string, text: string) => {
    const file = join(dir, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  return {
    caFile: await write('redis-ca.pem', ca.certPem),
    certFile: await write('redis-cert.pem', certPem),
    keyFile: await write('redis-key.pem', keyPem),
    password: randomBytes(12).toString('hex'),
  };
}

/**
 * Settings of a server or Sentinel that clients, replicas and other nodes reach by TLS at a separate port. The plain
 * port stays open for the set-up. Both ports require the password.
 */
export function securitySettings({ caFile, certFile, keyFile, password }: RedisSecurity, tlsPort: number): string[][] {
  return [
    ['tls-port', String(tlsPort)],
    ['tls-ca-cert-file', caFile],
    ['tls-cert-file', certFile],
    ['tls-key-file', keyFile],
    ['tls-auth-clients', 'no'],
    ['tls-replication', 'yes'],
    ['requirepass', password],
    // The name may resolve to either address.
    ['bind', '127.0.0.1', '-::1'],
  ];
}
