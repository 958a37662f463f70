import { spanText } from './span-text.ts';

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
