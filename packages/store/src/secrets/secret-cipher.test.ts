import { randomBytes } from 'node:crypto';
import { createSecretCipher, keyFingerprintOf, UndecryptableSecretError } from './secret-cipher.ts';

const oldKey = randomBytes(32);
const newKey = randomBytes(32);

test('an encrypted secret decrypts for its endpoint, and encrypting twice never gives the same text', () => {
  const cipher = createSecretCipher([oldKey]);
  const [first, second] = [cipher.encrypt('whsec_abc', 'wh_1'), cipher.encrypt('whsec_abc', 'wh_1')];
  expect(first).not.toBe(second);
  expect(first).not.toContain('whsec');
  expect(cipher.decrypt(first, 'wh_1')).toBe('whsec_abc');
});

test('an encrypted secret that is moved to another endpoint doesn’t decrypt', () => {
  const cipher = createSecretCipher([oldKey]);
  expect(() => cipher.decrypt(cipher.encrypt('whsec_abc', 'wh_1'), 'wh_2')).toThrow(UndecryptableSecretError);
});

test('what was encrypted for one purpose doesn’t decrypt for another', () => {
  const cipher = createSecretCipher([oldKey]);
  const headers = cipher.encrypt('{"a":"1"}', 'wh_1', 'headers');
  expect(cipher.decrypt(headers, 'wh_1', 'headers')).toBe('{"a":"1"}');
  expect(() => cipher.decrypt(headers, 'wh_1')).toThrow(UndecryptableSecretError);
  expect(() => cipher.decrypt(headers, 'wh_2', 'headers')).toThrow(UndecryptableSecretError);
  expect(() => cipher.decrypt(cipher.encrypt('whsec_abc', 'wh_1'), 'wh_1', 'headers')).toThrow(
    UndecryptableSecretError,
  );
});

test.each([0, 20, 40])('one changed character at %i doesn’t decrypt', (index) => {
  const cipher = createSecretCipher([oldKey]);
  const encrypted = cipher.encrypt('whsec_abc', 'wh_1');
  const changed = encrypted.slice(0, index) + (encrypted[index] === 'A' ? 'B' : 'A') + encrypted.slice(index + 1);
  expect(() => cipher.decrypt(changed, 'wh_1')).toThrow(UndecryptableSecretError);
});

test.each(['', '.', 'x.y', 'whsec_abc'])('%j doesn’t decrypt', (encrypted) => {
  expect(() => createSecretCipher([oldKey]).decrypt(encrypted, 'wh_1')).toThrow(UndecryptableSecretError);
});

test('after a rotation the new key encrypts, the old one still decrypts, and a process without it can’t', () => {
  const encryptedBefore = createSecretCipher([oldKey]).encrypt('whsec_abc', 'wh_1');
  const rotated = createSecretCipher([newKey, oldKey]);
  expect(rotated.decrypt(encryptedBefore, 'wh_1')).toBe('whsec_abc');
  expect(() => createSecretCipher([newKey]).decrypt(encryptedBefore, 'wh_1')).toThrow(
    `encrypted with the key ${createSecretCipher([oldKey]).fingerprints[0]}, which SECRETS_KEY doesn't list`,
  );
  const headersBefore = createSecretCipher([oldKey]).encrypt('{}', 'wh_1', 'headers');
  expect(() => createSecretCipher([newKey]).decrypt(headersBefore, 'wh_1', 'headers')).toThrow(
    'the text of the headers of wh_1 is encrypted with the key',
  );
  expect(createSecretCipher([newKey]).decrypt(rotated.encrypt('whsec_abc', 'wh_1'), 'wh_1')).toBe('whsec_abc');
});

test('a cipher names its keys in order, tells none of them, and an encrypted secret carries the first one’s name', () => {
  const { fingerprints, encrypt } = createSecretCipher([newKey, oldKey]);
  expect(fingerprints).toEqual([
    ...createSecretCipher([newKey]).fingerprints,
    ...createSecretCipher([oldKey]).fingerprints,
  ]);
  expect(new Set(fingerprints).size).toBe(2);
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{8}$/);
  expect(keyFingerprintOf(encrypt('whsec_abc', 'wh_1'))).toBe(fingerprints[0]);
});
