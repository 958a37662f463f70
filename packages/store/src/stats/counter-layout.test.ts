import { createDurationBins } from './counter-layout.ts';

const bins = createDurationBins({ first: 3, count: 10, factor: 2 });
const countsOf = (...durations: number[]) => {
  const counts = Array.from({ length: 13 }, () => 0);
  for (const ms of durations) counts[bins.fieldOf(ms)] = (counts[bins.fieldOf(ms)] ?? 0) + 1;
  return counts;
};

test.each([
  [0, 3],
  [1, 3],
  [2, 4],
  [3, 5],
  [4, 5],
  [256, 11],
  [257, 12],
  [1e9, 12],
])('%i ms count in field %i', (ms, field) => {
  expect(bins.fieldOf(ms)).toBe(field);
});

test('each range ends where the next one begins, whatever the factor', () => {
  for (const factor of [1.6, 2]) {
    const { fieldOf } = createDurationBins({ first: 0, count: 23, factor });
    for (let bin = 1; bin < 22; bin++) {
      expect(fieldOf(factor ** bin)).toBe(bin);
      expect(fieldOf(factor ** bin * 1.001)).toBe(bin + 1);
    }
  }
});

test('a quantile is the end of the range of the duration that it stands for: no one can call it too low', () => {
  const counts = countsOf(...Array.from({ length: 90 }, () => 10), ...Array.from({ length: 10 }, () => 200));
  expect(bins.sum(counts)).toBe(100);
  expect(bins.quantile(counts, 0.5)).toBe(16);
  expect(bins.quantile(counts, 0.95)).toBe(256);
  for (const share of [0.5, 0.95]) expect(bins.quantile(countsOf(129), share)).toBe(256);
});

test('of nothing there is no quantile, and what is beyond the last range is more than all that is told apart', () => {
  expect(bins.quantile(countsOf(), 0.5)).toBeUndefined();
  expect(bins.longest).toBe(256);
  expect(bins.quantile(countsOf(90_000), 0.5)).toBe(257);
});
