import { findNearest } from './find-nearest.ts';

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
