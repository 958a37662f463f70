import { ARRIVAL_BINS, ATTEMPT_BINS } from '@herald/store/stats/counter-layout';
import {
  exactTime,
  latencyText,
  limitText,
  LONGEST_MS,
  percentText,
  preciseDuration,
  relativeTime,
  roughDuration,
} from './time-text.ts';

const NOW = Date.UTC(2030, 0, 31, 12);

test.each([
  [0, 'now'],
  [-999, 'now'],
  [-5_000, '5 s ago'],
  [-61_000, '1 min ago'],
  [-3 * 3_600_000, '3 h ago'],
  [-50 * 3_600_000, '2 d ago'],
  [200_000, 'in 3 min'],
])('%d ms from now is %s', (distance, text) => {
  expect(relativeTime(NOW + distance, NOW)).toBe(text);
});

test.each([
  [0, '0 s'],
  [12_000, '12 s'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [90_000_000, '1 d 1 h'],
])('%d ms is counted down as %s', (ms, text) => {
  expect(preciseDuration(ms)).toBe(text);
});

test.each([
  [41, '41 ms'],
  [1_234, '1.23 s'],
  [12_345, '12.3 s'],
  [75_000, '1 min 15 s'],
])('an attempt of %d ms took %s', (ms, text) => {
  expect(latencyText(ms)).toBe(text);
});

test('a length below a second is told in ms, and never negative', () => {
  expect([roughDuration(999), roughDuration(-5)]).toEqual(['999 ms', '0 ms']);
});

test('an exact time has milliseconds and the zone of the reader', () => {
  expect(exactTime(NOW + 7)).toMatch(/^2030-0[12]-\d\d \d\d:\d\d:00\.007 \S+$/);
});

test.each([
  [1, '100 %'],
  [0.99999, '99.9 %'],
  [0.947, '94.7 %'],
  [0.00001, '0.1 %'],
  [0, '0 %'],
])('a share of %d is %s: never all while one is missing', (share, text) => {
  expect(percentText(share)).toBe(text);
});

test('a figure of statistics says that it is a limit, also where it stands for all that is longer', () => {
  expect(limitText(7_556, LONGEST_MS.attempt)).toBe('≤ 7.56 s');
  expect(limitText(19_343, LONGEST_MS.attempt)).toBe('≤ 19.3 s');
  expect(limitText(19_344, LONGEST_MS.attempt)).toBe('> 19.3 s');
  expect(LONGEST_MS).toEqual({ attempt: ATTEMPT_BINS.longest, arrival: ARRIVAL_BINS.longest });
});
