import { randomBytes } from 'node:crypto';
import { newSigningSecret } from '@herald/core';
import { createSecretBox } from '@herald/store/secrets/secret-box';
import { createSigningKeyCache } from './signing-key-cache.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

test('a secret that was sealed anew with another key signs as before, and each sealed text is opened once', () => {
  const box = createSecretBox([newKey, oldKey]);
  const opened: string[] = [];
  const signingKeyOf = createSigningKeyCache((sealed, endpointId) => {
    opened.push(sealed);
    return box.open(sealed, endpointId);
  });
  const secret = newSigningSecret();
  const before = createSecretBox([oldKey]).seal(secret, 'wh_1');
  const after = box.seal(secret, 'wh_1');
  const keys = [before, after, before, after].map((sealed) => signingKeyOf(sealed, 'wh_1'));
  expect(opened).toEqual([before, after]);
  for (const key of keys) {
    expect(key.service.export()).toEqual(Buffer.from(secret));
    expect(key.standard.export()).toEqual(Buffer.from(secret.slice('whsec_'.length), 'base64'));
  }
});

test('a secret that doesn’t open is asked for again: its key may come with the next sealed text', () => {
  const { open } = createSecretBox([oldKey]);
  let asked = 0;
  const signingKeyOf = createSigningKeyCache((sealed, endpointId) => {
    asked++;
    return open(sealed, endpointId);
  });
  const sealed = createSecretBox([newKey]).seal(newSigningSecret(), 'wh_1');
  for (let count = 0; count < 2; count++) expect(() => signingKeyOf(sealed, 'wh_1')).toThrow('SECRETS_KEY');
  expect(asked).toBe(2);
});
