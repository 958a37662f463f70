import { randomBytes } from 'node:crypto';
import { createSecretBox, fingerprintOfSealed, UnopenableSecretError } from './secret-box.ts';

const oldKey = randomBytes(32);
const newKey = randomBytes(32);

test('a sealed secret opens for its endpoint, and sealing twice never gives the same text', () => {
  const box = createSecretBox([oldKey]);
  const [first, second] = [box.seal('whsec_abc', 'wh_1'), box.seal('whsec_abc', 'wh_1')];
  expect(first).not.toBe(second);
  expect(first).not.toContain('whsec');
  expect(box.open(first, 'wh_1')).toBe('whsec_abc');
});

test('a sealed secret moved to another endpoint doesn’t open', () => {
  const box = createSecretBox([oldKey]);
  expect(() => box.open(box.seal('whsec_abc', 'wh_1'), 'wh_2')).toThrow(UnopenableSecretError);
});

test.each([0, 20, 40])('one changed character at %i doesn’t open', (index) => {
  const box = createSecretBox([oldKey]);
  const sealed = box.seal('whsec_abc', 'wh_1');
  const changed = sealed.slice(0, index) + (sealed[index] === 'A' ? 'B' : 'A') + sealed.slice(index + 1);
  expect(() => box.open(changed, 'wh_1')).toThrow(UnopenableSecretError);
});

test.each(['', '.', 'x.y', 'whsec_abc'])('%j doesn’t open', (sealed) => {
  expect(() => createSecretBox([oldKey]).open(sealed, 'wh_1')).toThrow(UnopenableSecretError);
});

test('after a rotation the new key seals, the old one still opens, and a process without it can’t', () => {
  const sealedBefore = createSecretBox([oldKey]).seal('whsec_abc', 'wh_1');
  const rotated = createSecretBox([newKey, oldKey]);
  expect(rotated.open(sealedBefore, 'wh_1')).toBe('whsec_abc');
  expect(() => createSecretBox([newKey]).open(sealedBefore, 'wh_1')).toThrow(
    `sealed with the key ${createSecretBox([oldKey]).fingerprints[0]}, which SECRETS_KEY doesn't list`,
  );
  expect(createSecretBox([newKey]).open(rotated.seal('whsec_abc', 'wh_1'), 'wh_1')).toBe('whsec_abc');
});

test('a box names its keys in order, tells none of them, and a sealed secret carries the first one’s name', () => {
  const { fingerprints, seal } = createSecretBox([newKey, oldKey]);
  expect(fingerprints).toEqual([...createSecretBox([newKey]).fingerprints, ...createSecretBox([oldKey]).fingerprints]);
  expect(new Set(fingerprints).size).toBe(2);
  for (const fingerprint of fingerprints) expect(fingerprint).toMatch(/^[0-9a-f]{8}$/);
  expect(fingerprintOfSealed(seal('whsec_abc', 'wh_1'))).toBe(fingerprints[0]);
});
