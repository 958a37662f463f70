import { newSigningSecret, standardWebhooksKey } from './signing-secret.ts';

test('a secret is whsec_ and the base64 of 32 bytes, which are the Standard Webhooks key', () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(standardWebhooksKey(secret)).toHaveLength(32);
  expect(`whsec_${standardWebhooksKey(secret).toString('base64')}`).toBe(secret);
});

test('no two secrets are the same', () => {
  expect(new Set(Array.from({ length: 100 }, newSigningSecret)).size).toBe(100);
});
