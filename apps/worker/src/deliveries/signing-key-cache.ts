import { createSigningKey, type SigningKey } from '@herald/core';
import type { SecretCipher } from '@herald/store/secrets/secret-cipher';

const LIMIT = 2_000;

/**
 * Remembers the keys of encrypted secrets: to decrypt and prepare a key costs more than to sign. A rotated or re-encrypted
 * secret is another text, so an entry is never stale. The oldest entry is removed first.
 */
export function createSigningKeyCache(decryptSecret: SecretCipher['decrypt']) {
  const keys = new Map<string, SigningKey>();
  return function signingKeyOf(encrypted: string, endpointId: string): SigningKey {
    const name = `${endpointId} ${encrypted}`;
    const known = keys.get(name);
    if (known) return known;
    const key = createSigningKey(decryptSecret(encrypted, endpointId));
    const oldest = keys.keys().next().value;
    if (keys.size >= LIMIT && oldest !== undefined) keys.delete(oldest);
    keys.set(name, key);
    return key;
  };
}
