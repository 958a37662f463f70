import { countOf, spanText } from './text.ts';

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
  [0, 'secret', '0 secrets'],
  [1, 'delivery', '1 delivery'],
  [2, 'delivery', '2 deliveries'],
  [2, 'key', '2 keys'],
  [2, 'process', '2 processes'],
])('%i of a %s is %s', (count, thing, text) => {
  expect(countOf(count, thing)).toBe(text);
});
