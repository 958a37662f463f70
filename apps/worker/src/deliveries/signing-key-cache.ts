import { createSigningKey } from '@herald/core';
import type { SecretCipher } from '@herald/store/secrets/secret-cipher';
import { createDecryptedCache } from './decrypted-cache.ts';

/** Remembers the keys of encrypted secrets: to decrypt and prepare a key costs more than to sign. */
export function createSigningKeyCache(decryptSecret: SecretCipher['decrypt']) {
  return createDecryptedCache((encrypted, endpointId) => createSigningKey(decryptSecret(encrypted, endpointId)));
}
