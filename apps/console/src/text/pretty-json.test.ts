import { cutJson, prettyJson } from './pretty-json.ts';

test('JSON gets lines, and other text none', () => {
  expect(prettyJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(prettyJson('{"a":')).toBeUndefined();
});

test('the pieces of JSON are all of it, each of its kind', () => {
  const json = '{"key": "a \\"text\\": 1", "n": -1.5e3, "t": true, "z": null}';
  const pieces = cutJson(json);
  expect(pieces.map(({ text }) => text).join('')).toBe(json);
  expect(pieces.filter(({ kind }) => kind !== 'plain').map(({ text, kind }) => `${kind} ${text}`)).toEqual([
    'key "key"',
    'string "a \\"text\\": 1"',
    'key "n"',
    'number -1.5e3',
    'key "t"',
    'word true',
    'key "z"',
    'word null',
  ]);
});
