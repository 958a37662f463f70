import { relativeText } from './time-text.ts';

test.each([
  [1_000_000, 'now'],
  [999_100, 'now'],
  [940_000, '1 min ago'],
  [1_000_000 + 7_200_000, 'in 2 h'],
])('at 1,000,000 the time %i is %s', (at, text) => {
  expect(relativeText(at, 1_000_000)).toBe(text);
});
