import { findNearest, judgeJson } from './read-input.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

test.each<[string, unknown]>([
  ['a number', 1],
  ['null', null],
  ['64 levels', nested(64)],
  ['a field named constructor', { constructor: { prototype: 1 } }],
])('%s is fine', (_name, value) => {
  expect(judgeJson(value)).toBeUndefined();
});

test.each([
  ['{"__proto__": 1}', '__proto__'],
  ['{"a": [0, {"b": {"__proto__": {"isAdmin": true}}}]}', 'a.1.b.__proto__'],
])('%s is refused, and the path says where', (text, path) => {
  expect(judgeJson(JSON.parse(text))).toEqual({ path, message: 'must not be used as the name of a field' });
});

test('65 levels are refused', () => {
  expect(judgeJson(nested(65))?.message).toBe('is nested deeper than 64 levels');
});

test('a long name is cut in the path', () => {
  const path = judgeJson(JSON.parse(`{"${'x'.repeat(100_000)}": {"__proto__": 1}}`))?.path;
  expect(path).toBe(`${'x'.repeat(64)}.__proto__`);
});

const FIELDS = ['url', 'events', 'description', 'enabled'];

test.each([
  ['event', 'events'],
  ['Events', 'events'],
  ['evnets', 'events'],
  ['URL', 'url'],
  ['urls', 'url'],
  ['desc', undefined],
  ['descripton', 'description'],
  ['enable', 'enabled'],
  ['secret', undefined],
  ['id', undefined],
  ['', undefined],
  ['x'.repeat(64), undefined],
])('%p most likely means %p', (name, meant) => {
  expect(findNearest(name, FIELDS)).toBe(meant);
});

test('where nothing is known nothing is meant', () => {
  expect(findNearest('url', [])).toBeUndefined();
});
