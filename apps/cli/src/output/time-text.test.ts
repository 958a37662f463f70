import { relativeText, spanText } from './time-text.ts';

test.each([
  [0, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '1 d'],
])('%i ms are %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

test.each([
  [1_000_000, 'now'],
  [999_100, 'now'],
  [940_000, '1 min ago'],
  [1_000_000 + 7_200_000, 'in 2 h'],
])('at 1,000,000 the time %i is %s', (at, text) => {
  expect(relativeText(at, 1_000_000)).toBe(text);
});
