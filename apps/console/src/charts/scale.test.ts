import { linePath, niceTop } from './scale.ts';

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [10, 10],
  [11, 20],
  [999, 1_000],
])('an axis for %d ends at %d', (value, top) => {
  expect(niceTop(value)).toBe(top);
});

test('a line breaks where nothing is known, and a lonely value still shows', () => {
  const path = linePath(
    [1, 2, undefined, 3],
    (index) => index,
    (value) => value,
  );
  expect(path).toBe('M0.0 1.0L1.0 2.0M3.0 3.0h1.5');
});
