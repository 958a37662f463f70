import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  digestApiKey,
  isApiKeyText,
  isPortalTokenText,
  isSameProof,
  keyIdIn,
  looksLikePortalToken,
  newApiKey,
  newPortalToken,
} from './api-key-store.ts';

const ID = 'key_0123456789abcdef';
/** A key as they were made before texts had an id. */
const FORMER = 'hrld_000000000000000000000000000000002wjyrI';

test('a new key carries its id, has the form that secret scanners look for, and no two are alike', () => {
  const keys = Array.from({ length: 200 }, () => newApiKey(ID));
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(key).toMatch(/^hrld_0123456789abcdef_[0-9A-Za-z]{38}$/);
    expect([isApiKeyText(key), keyIdIn(key)]).toEqual([true, ID]);
  }
});

test('a former key is still one, and carries no id', () => {
  expect([isApiKeyText(FORMER), keyIdIn(FORMER)]).toEqual([true, undefined]);
});

test.each([
  ['its id', 5],
  ['the end of its id', 20],
  ['the bar behind it', 21],
  ['its random part', 30],
  ['its checksum', 59],
])('a key with one character changed in %s fails its checksum', (_where, index) => {
  const key = newApiKey(ID);
  for (const other of ['0', 'f', 'Z', '_']) {
    const changed = key.slice(0, index) + other + key.slice(index + 1);
    expect([changed === key, isApiKeyText(changed)]).toEqual([key[index] === other, key[index] === other]);
  }
});

test.each([
  '',
  'hrld_',
  'Bearer x',
  `${newApiKey(ID)} `,
  newApiKey(ID).slice(1),
  newApiKey(ID).replace('0123456789abcdef_', ''),
  newApiKey(ID).toUpperCase(),
  `${FORMER}0`,
])('%j is no key', (text) => {
  expect(isApiKeyText(text)).toBe(false);
});

test('the token of a portal link has a form of its own: neither counts as the other', () => {
  const token = newPortalToken();
  expect(token).toMatch(/^hrlp_[0-9A-Za-z]{38}$/);
  expect([isPortalTokenText(token), isApiKeyText(token), isPortalTokenText(newApiKey(ID))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(isPortalTokenText(token.slice(0, -1))).toBe(false);
  expect([token, token.slice(0, 9), newApiKey(ID)].map(looksLikePortalToken)).toEqual([true, true, false]);
});

test('the patterns for secret scanners in SECURITY.md find keys, former keys and tokens', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../SECURITY.md'), 'utf8');
  const patterns = [...page.matchAll(/\| `(hrl[dp]_[^`]+)`/g)].map(([, pattern = '']) => new RegExp(`^${pattern}$`));
  const found = (text: string) => patterns.map((pattern) => pattern.test(text));
  expect([newApiKey(ID), FORMER, newPortalToken()].map(found)).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
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
