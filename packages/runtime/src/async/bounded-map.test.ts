import { createBoundedMap } from './bounded-map.ts';

test('an entry beyond the limit takes the place of the oldest', () => {
  const map = createBoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect([map.get('a'), map.get('b')]).toEqual([3, 2]);
  map.set('c', 4);
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 4]);
});
