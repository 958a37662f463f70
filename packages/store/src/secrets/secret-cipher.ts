import type { OwnHeaders } from '@herald/core';
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { SealedHeaders } from '../endpoints/endpoint-record.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** None of the keys decrypts this secret: it is another endpoint's, encrypted with another key, or damaged. */
export class UndecryptableSecretError extends Error {
  override readonly name = 'UndecryptableSecretError';
}

/** What a secret is for: to sign with, or as headers of the endpoint's own. */
export type SecretPurpose = 'signing' | 'headers';
const NAMES: Readonly<Record<SecretPurpose, string>> = { signing: 'the secret', headers: 'the text of the headers' };

/**
 * Encrypts an endpoint's secrets with AES-256-GCM, bound to its id and their purpose: none decrypts for another endpoint
 * or in place of another.
 * @param keys 32 bytes each: the first encrypts, all decrypt
 */
export function createSecretCipher(keys: readonly [Buffer, ...Buffer[]]) {
  for (const key of keys) {
    if (key.length !== KEY_BYTES) throw new RangeError(`a key of SECRETS_KEY must be ${KEY_BYTES} bytes`);
  }
  const keyOf = new Map(keys.map((key) => [fingerprintOf(key), createSecretKey(key)]));
  const [first, ...others] = keys;
  const fingerprints = [fingerprintOf(first), ...others.map(fingerprintOf)] as const;
  const firstKey = createSecretKey(first);
  return {
    /** The fingerprints of its keys, the first key's first. */
    fingerprints,
    /** @returns `<fingerprint of the first key>.<base64 of iv, ciphertext and tag>` */
    encrypt: (secret: string, endpointId: string, purpose: SecretPurpose = 'signing'): string => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, firstKey, iv).setAAD(boundTo(endpointId, purpose));
      const parts = [iv, cipher.update(secret, 'utf8'), cipher.final()];
      return `${fingerprints[0]}.${Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64')}`;
    },
    /** @throws UndecryptableSecretError */
    decrypt: (encrypted: string, endpointId: string, purpose: SecretPurpose = 'signing'): string => {
      const fingerprint = keyFingerprintOf(encrypted);
      const key = keyOf.get(fingerprint);
      if (!key) {
        throw new UndecryptableSecretError(
          `${NAMES[purpose]} of ${endpointId} is encrypted with the key ${fingerprint}, which SECRETS_KEY doesn't list; ` +
            'add that key behind the first and restart this process',
        );
      }
      const bytes = Buffer.from(encrypted.slice(fingerprint.length + 1), 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(boundTo(endpointId, purpose))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new UndecryptableSecretError(
          `the encrypted secret of ${endpointId} is damaged, of another endpoint or for another purpose`,
          {
            cause,
          },
        );
      }
    },
  };
}

export type SecretCipher = ReturnType<typeof createSecretCipher>;

/** The additional data of the encryption. A signing secret has the id alone; no id contains a blank. */
function boundTo(endpointId: string, purpose: SecretPurpose): Buffer {
  return Buffer.from(purpose === 'signing' ? endpointId : `${endpointId} ${purpose}`);
}

/** The fingerprint of the key that a secret is encrypted with: the text before the first dot, or all of it. */
export function keyFingerprintOf(encrypted: string): string {
  return encrypted.split('.', 1)[0] ?? '';
}

/**
 * Names a key without revealing it: 32 bits of a hash don't lead back to 256 random ones. A reader of Redis can test a
 * guessed key with it, but any encrypted secret there allows that as well.
 */
function fingerprintOf(key: Buffer): string {
  return createHash('sha256').update('herald-secrets-key:').update(key).digest('hex').slice(0, 8);
}

const Headers = z.record(z.string(), z.string());

/** Encrypts the headers of an endpoint's own, for its record. */
export function createSealHeaders(encrypt: SecretCipher['encrypt']) {
  return (headers: OwnHeaders, endpointId: string): SealedHeaders => ({
    names: Object.keys(headers),
    encrypted: encrypt(JSON.stringify(headers), endpointId, 'headers'),
  });
}
export type SealHeaders = ReturnType<typeof createSealHeaders>;

/** @throws UndecryptableSecretError */
export function openHeaders(decrypt: SecretCipher['decrypt'], encrypted: string, endpointId: string): OwnHeaders {
  return Headers.parse(JSON.parse(decrypt(encrypted, endpointId, 'headers')));
}
