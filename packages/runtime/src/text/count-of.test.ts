import { countOf } from './count-of.ts';

test.each([
  [0, 'secret', '0 secrets'],
  [1, 'delivery', '1 delivery'],
  [2, 'delivery', '2 deliveries'],
  [2, 'key', '2 keys'],
  [2, 'process', '2 processes'],
])('%i of a %s is %s', (count, thing, text) => {
  expect(countOf(count, thing)).toBe(text);
});
