import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** None of the keys decrypts this secret: it is another endpoint's, encrypted with another key, or damaged. */
export class UndecryptableSecretError extends Error {
  override readonly name = 'UndecryptableSecretError';
}

/** Encrypts signing secrets with AES-256-GCM. The endpoint's id is bound in, so that no secret decrypts for another. */
export type SecretCipher = {
  /** The fingerprints of its keys; what it encrypts carries the first. */
  readonly fingerprints: readonly [string, ...string[]];
  /** `<key fingerprint>.<base64 of iv, ciphertext and tag>` */
  readonly encrypt: (secret: string, endpointId: string) => string;
  /** @throws UndecryptableSecretError */
  readonly decrypt: (encrypted: string, endpointId: string) => string;
};

/** @param keys 32 bytes each: the first encrypts, all decrypt */
export function createSecretCipher(keys: readonly [Buffer, ...Buffer[]]): SecretCipher {
  for (const key of keys) {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key of SECRETS_KEY must be ${KEY_BYTES} bytes`);
  }
  const keyOf = new Map(keys.map((key) => [fingerprintOf(key), createSecretKey(key)]));
  const [first, ...others] = keys;
  const firstFingerprint = fingerprintOf(first);
  const firstKey = createSecretKey(first);
  return {
    fingerprints: [firstFingerprint, ...others.map(fingerprintOf)],
    encrypt: (secret, endpointId) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, firstKey, iv).setAAD(Buffer.from(endpointId));
      const parts = [iv, cipher.update(secret, 'utf8'), cipher.final()];
      return `${firstFingerprint}.${Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64')}`;
    },
    decrypt: (encrypted, endpointId) => {
      const fingerprint = keyFingerprintOf(encrypted);
      const key = keyOf.get(fingerprint);
      if (!key) {
        throw new UndecryptableSecretError(
          `the secret of ${endpointId} is encrypted with the key ${fingerprint}, which SECRETS_KEY doesn't list; ` +
            'add that key behind the first and restart this process',
        );
      }
      const bytes = Buffer.from(encrypted.slice(fingerprint.length + 1), 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(endpointId))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new UndecryptableSecretError(`the encrypted secret of ${endpointId} is damaged or of another endpoint`, {
          cause,
        });
      }
    },
  };
}

/** Which key a secret is encrypted with: the text before the first dot, and all of a text that has none. */
export function keyFingerprintOf(encrypted: string): string {
  return encrypted.split('.', 1)[0] ?? '';
}

/**
 * Names a key without telling it: 32 bits of a hash, from which nobody gets back to 256 random ones. Whoever reads it in
 * Redis can test a guessed key, which any encrypted secret beside it lets him do as well.
 */
function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update('herald-secrets-key:').update(key).digest('hex').slice(0, 8);
}
