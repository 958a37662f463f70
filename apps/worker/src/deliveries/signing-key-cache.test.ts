import { randomBytes } from 'node:crypto';
import { newSigningSecret } from '@herald/core';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createSigningKeyCache } from './signing-key-cache.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

test('a secret that was re-encrypted with another key signs as before, and each text is decrypted once', () => {
  const cipher = createSecretCipher([newKey, oldKey]);
  const decrypted: string[] = [];
  const signingKeyOf = createSigningKeyCache((encrypted, endpointId) => {
    decrypted.push(encrypted);
    return cipher.decrypt(encrypted, endpointId);
  });
  const secret = newSigningSecret();
  const before = createSecretCipher([oldKey]).encrypt(secret, 'wh_1');
  const after = cipher.encrypt(secret, 'wh_1');
  const keys = [before, after, before, after].map((encrypted) => signingKeyOf(encrypted, 'wh_1'));
  expect(decrypted).toEqual([before, after]);
  for (const key of keys) {
    expect(key.service.export()).toEqual(Buffer.from(secret));
    expect(key.standard.export()).toEqual(Buffer.from(secret.slice('whsec_'.length), 'base64'));
  }
});

test('a secret that doesn’t decrypt is tried again: its key may come with the next encrypted text', () => {
  const { decrypt } = createSecretCipher([oldKey]);
  let asked = 0;
  const signingKeyOf = createSigningKeyCache((encrypted, endpointId) => {
    asked++;
    return decrypt(encrypted, endpointId);
  });
  const encrypted = createSecretCipher([newKey]).encrypt(newSigningSecret(), 'wh_1');
  for (let count = 0; count < 2; count++) expect(() => signingKeyOf(encrypted, 'wh_1')).toThrow('SECRETS_KEY');
  expect(asked).toBe(2);
});
