import { createSigningKey, type SigningKey } from '@herald/core';
import type { SecretBox } from '@herald/store/secrets/secret-box';

const LIMIT = 2_000;

/**
 * Remembers the keys of sealed secrets, since opening and preparing them costs more than signing. A rotated or resealed
 * secret is another sealed text, so what is remembered is never stale; the longest known goes first.
 */
export function createSigningKeyCache(openSecret: SecretBox['open']) {
  const keys = new Map<string, SigningKey>();
  return function signingKeyOf(sealed: string, endpointId: string): SigningKey {
    const name = `${endpointId} ${sealed}`;
    const known = keys.get(name);
    if (known) return known;
    const key = createSigningKey(openSecret(sealed, endpointId));
    const oldest = keys.keys().next().value;
    if (keys.size >= LIMIT && oldest !== undefined) keys.delete(oldest);
    keys.set(name, key);
    return key;
  };
}
