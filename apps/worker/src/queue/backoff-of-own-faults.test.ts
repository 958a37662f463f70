import { ownFaultDelayMs } from './backoff-of-own-faults.ts';

test.each([
  { faults: 1, least: 250, most: 500 },
  { faults: 2, least: 500, most: 1_000 },
  { faults: 5, least: 4_000, most: 8_000 },
  { faults: 7, least: 16_000, most: 32_000 },
  { faults: 8, least: 30_000, most: 60_000 },
  { faults: 1_000_000, least: 30_000, most: 60_000 },
])('after $faults faults in a row a job waits $least to $most ms', ({ faults, least, most }) => {
  expect(ownFaultDelayMs(faults, 0)).toBe(least);
  expect(ownFaultDelayMs(faults, 0.5)).toBe((least + most) / 2);
  expect(ownFaultDelayMs(faults, 1 - Number.EPSILON)).toBe(most);
});
