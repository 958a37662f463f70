import {
  createCertificateAuthority,
  hasCode,
  readCertificateAuthority,
  type CertificateAuthority,
} from '@herald/test-kit';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The data of a local service, kept between starts. The folder has mode 0700, its files 0600. */
export interface LocalFolder {
  readonly dir: string;
  readonly secretsKey: string;
  /** Of the board; its user is `operator`. */
  readonly operatorPassword: string;
  readonly operatorPasswordFile: string;
  readonly ca: CertificateAuthority;
  readonly caFile: string;
  read(name: FileName): Promise<string | undefined>;
  write(name: FileName, text: string): Promise<void>;
  remove(name: FileName): Promise<void>;
}

type FileName =
  | 'secrets-key'
  | 'ca.pem'
  | 'ca-key.pem'
  | 'api-key'
  | 'executor-key'
  | 'operator-password'
  | 'redis-port'
  | 'running.json';

/** Opens the folder. The first time, creates it with a key for the signing secrets and a certificate authority. */
export async function openLocalFolder(dir: string): Promise<LocalFolder> {
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o700);
  const read = async (name: FileName) => {
    try {
      return (await readFile(join(dir, name), 'utf8')).trim();
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  };
  // Renames a complete file: a crash leaves the old file or none, never half a key.
  const write = async (name: FileName, text: string) => {
    const draft = join(dir, `${name}.${process.pid}.tmp`);
    await writeFile(draft, `${text.trim()}\n`, { mode: 0o600 });
    await rename(draft, join(dir, name));
  };
  const keep = async (name: FileName, make: () => string) => {
    const kept = await read(name);
    if (kept !== undefined) return kept;
    const made = make();
    await write(name, made);
    return made;
  };
  const keepAuthority = async () => {
    const [certPem, keyPem] = [await read('ca.pem'), await read('ca-key.pem')];
    if (certPem !== undefined && keyPem !== undefined) return readCertificateAuthority({ certPem, keyPem });
    const made = await createCertificateAuthority('Herald local CA');
    await write('ca-key.pem', made.keyPem);
    await write('ca.pem', made.certPem); // last: with it the pair is complete
    return made;
  };
  return {
    dir,
    secretsKey: await keep('secrets-key', () => randomBytes(32).toString('base64')),
    operatorPassword: await keep('operator-password', () => randomBytes(18).toString('base64url')),
    operatorPasswordFile: join(dir, 'operator-password'),
    ca: await keepAuthority(),
    caFile: join(dir, 'ca.pem'),
    read,
    write,
    remove: (name) => rm(join(dir, name), { force: true }),
  };
}
