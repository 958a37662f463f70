import { hash } from 'node:crypto';
import {
  digestApiKey,
  isApiKeyText,
  isPortalTokenText,
  isSameProof,
  looksLikePortalToken,
  newApiKey,
  newPortalToken,
} from './api-key-text.ts';

test('a new key has the form that secret scanners look for, and no two are alike', () => {
  const keys = Array.from({ length: 200 }, newApiKey);
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(key).toMatch(/^hrld_[0-9A-Za-z]{38}$/);
    expect(isApiKeyText(key)).toBe(true);
  }
});

test('a key with one changed character fails its checksum', () => {
  const key = newApiKey();
  for (const index of [5, 20, 36, 42]) {
    const changed = key.slice(0, index) + (key[index] === 'x' ? 'y' : 'x') + key.slice(index + 1);
    expect(isApiKeyText(changed)).toBe(false);
  }
});

test.each(['', 'hrld_', 'Bearer x', `${newApiKey()} `, newApiKey().slice(1)])('%j is no key', (text) => {
  expect(isApiKeyText(text)).toBe(false);
});

test('the token of a portal link has a form of its own: neither counts as the other', () => {
  const token = newPortalToken();
  expect(token).toMatch(/^hrlp_[0-9A-Za-z]{38}$/);
  expect([isPortalTokenText(token), isApiKeyText(token), isPortalTokenText(newApiKey())]).toEqual([true, false, false]);
  expect(isPortalTokenText(token.slice(0, -1))).toBe(false);
  expect([token, token.slice(0, 9), newApiKey()].map(looksLikePortalToken)).toEqual([true, true, false]);
});

test('a key is found by its SHA-256, and proves itself by another digest', () => {
  const { lookUp, proof } = digestApiKey('abc');
  expect(lookUp).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(proof).toBe(hash('sha256', 'proof abc', 'hex'));
});

test.each([
  ['the same', 'b00361a3', 'b00361a3', true],
  ['another of the same length', 'b00361a3', 'b00361a4', false],
  ['a longer one', 'b00361a3', 'b00361a3b0', false],
  ['none', '', 'b00361a3', false],
  ['that of a record from before proofs', 'b00361a3', undefined, true],
])('a proof is compared with %s', (_name, given, stored, same) => {
  expect(isSameProof(given, stored)).toBe(same);
});
