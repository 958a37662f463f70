import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed secret that none of the keys opens: it is of another endpoint, of another key, or damaged. */
export class UnopenableSecretError extends Error {
  override readonly name = 'UnopenableSecretError';
}

/** Seals signing secrets with AES-256-GCM; the endpoint's id is bound in, so a sealed secret can't be moved to another. */
export type SecretBox = {
  /** The fingerprints of its keys; what it seals carries the first. */
  readonly fingerprints: readonly [string, ...string[]];
  /** `<key fingerprint>.<base64 of iv, ciphertext and tag>` */
  readonly seal: (secret: string, endpointId: string) => string;
  /** @throws UnopenableSecretError */
  readonly open: (sealed: string, endpointId: string) => string;
};

/** @param keys 32 bytes each: the first seals, all open */
export function createSecretBox(keys: readonly [Buffer, ...Buffer[]]): SecretBox {
  for (const key of keys) {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key of SECRETS_KEY must be ${KEY_BYTES} bytes`);
  }
  const keyOf = new Map(keys.map((key) => [fingerprintOf(key), createSecretKey(key)]));
  const [first, ...others] = keys;
  const sealingFingerprint = fingerprintOf(first);
  const sealingKey = createSecretKey(first);
  return {
    fingerprints: [sealingFingerprint, ...others.map(fingerprintOf)],
    seal: (secret, endpointId) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, sealingKey, iv).setAAD(Buffer.from(endpointId));
      const parts = [iv, cipher.update(secret, 'utf8'), cipher.final()];
      return `${sealingFingerprint}.${Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64')}`;
    },
    open: (sealed, endpointId) => {
      const fingerprint = fingerprintOfSealed(sealed);
      const key = keyOf.get(fingerprint);
      if (!key) {
        throw new UnopenableSecretError(
          `the secret of ${endpointId} is sealed with the key ${fingerprint}, which SECRETS_KEY doesn't list; ` +
            'add that key behind the first and restart this process',
        );
      }
      const bytes = Buffer.from(sealed.slice(fingerprint.length + 1), 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(endpointId))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new UnopenableSecretError(`the sealed secret of ${endpointId} is damaged or of another endpoint`, {
          cause,
        });
      }
    },
  };
}

/** Which key sealed a secret: the fingerprint in front of the first dot, or of a text that nothing sealed, all of it. */
export function fingerprintOfSealed(sealed: string): string {
  return sealed.split('.', 1)[0] ?? '';
}

/**
 * Names a key without telling it: 32 bits of a hash, from which nobody gets back to 256 random ones. Whoever reads it in
 * Redis can test a guessed key, which any sealed secret beside it lets him do as well.
 */
function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update('herald-secrets-key:').update(key).digest('hex').slice(0, 8);
}
