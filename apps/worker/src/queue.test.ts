import { internalErrorDelayMs } from './queue.ts';

test.each([
  { errors: 1, least: 250, most: 500 },
  { errors: 2, least: 500, most: 1_000 },
  { errors: 5, least: 4_000, most: 8_000 },
  { errors: 7, least: 16_000, most: 32_000 },
  { errors: 8, least: 30_000, most: 60_000 },
  { errors: 1_000_000, least: 30_000, most: 60_000 },
])('after $errors errors in a row a job waits $least to $most ms', ({ errors, least, most }) => {
  expect(internalErrorDelayMs(errors, 0)).toBe(least);
  expect(internalErrorDelayMs(errors, 0.5)).toBe((least + most) / 2);
  expect(internalErrorDelayMs(errors, 1 - Number.EPSILON)).toBe(most);
});
