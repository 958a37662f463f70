import { createSigningKey, newSigningSecret } from './signing-secret.ts';

test('a secret is whsec_ and the base64 of 32 bytes, which are the Standard Webhooks key', () => {
  const secret = newSigningSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const { service, standard } = createSigningKey(secret);
  expect(standard.export()).toHaveLength(32);
  expect(`whsec_${standard.export().toString('base64')}`).toBe(secret);
  expect(service.export().toString()).toBe(secret);
});

test('no two secrets are the same', () => {
  expect(new Set(Array.from({ length: 100 }, newSigningSecret)).size).toBe(100);
});
