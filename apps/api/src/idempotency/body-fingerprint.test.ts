import { bodyFingerprint } from './body-fingerprint.ts';

const of = (json: string) => bodyFingerprint(JSON.parse(json));

test.each([
  ['another order of keys', '{"a":1,"b":{"c":[1,2],"d":null}}', '{ "b": {"d": null, "c": [1, 2]}, "a": 1 }'],
  ['another spelling of a number', '{"a":1.0}', '{"a":1}'],
  ['another spelling of a character', '{"a":"\\u0041"}', '{"a":"A"}'],
])('%s makes no other body', (_name, one, same) => {
  expect(of(one)).toBe(of(same));
});

test.each([
  ['another value', '{"a":1}', '{"a":2}'],
  ['another type', '{"a":1}', '{"a":"1"}'],
  ['another key', '{"a":1}', '{"b":1}'],
  ['another order in a list', '[1,2]', '[2,1]'],
  ['another place of the same value', '{"a":{"b":1}}', '{"a":1,"b":1}'],
  ['another value on the 66th level', `${'['.repeat(66)}1${']'.repeat(66)}`, `${'['.repeat(66)}2${']'.repeat(66)}`],
  ['a list instead of its text', '["1,2"]', '[1,2]'],
  ['null instead of nothing', '{"a":null}', '{}'],
  ['a key that looks like structure', '{"a\\":1,\\"b":2}', '{"a":1,"b":2}'],
  ['a __proto__ of its own', '{"__proto__":1}', '{}'],
])('%s makes another body', (_name, one, other) => {
  expect(of(one)).not.toBe(of(other));
});

test('a body with numbers that parsing changed is no other than the same text', () => {
  const [text, rounded] = ['[9007199254740993]', '[9007199254740992]'];
  const fingerprint = bodyFingerprint(JSON.parse(text), text);
  expect(fingerprint).not.toBe(of(rounded));
  expect(fingerprint).not.toBe(bodyFingerprint(JSON.parse(text), '[9007199254740991]'));
  expect(fingerprint).toBe(bodyFingerprint(JSON.parse(text), text));
});

test('a body of any depth has a fingerprint', () => {
  const depth = 100_000;
  expect(of(`${'['.repeat(depth)}1${']'.repeat(depth)}`)).toMatch(/^[\w-]{43}$/);
});
