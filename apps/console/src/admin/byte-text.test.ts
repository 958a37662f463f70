import { byteText, rateText } from './byte-text.ts';

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [-2_048, '-2.0 KiB'],
  [512 * 1_024 ** 2, '512 MiB'],
  [3 * 1_024 ** 4, '3.0 TiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(byteText(bytes)).toBe(text);
});

test.each([
  [0, '0'],
  [0.44, '0.4'],
  [12.3, '12'],
  [1_234, '1,234'],
])('a rate of %d is %s', (rate, text) => {
  expect(rateText(rate)).toBe(text);
});
