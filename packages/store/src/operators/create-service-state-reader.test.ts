import { createMemoryTrend } from './create-service-state-reader.ts';

test('the rate is known after half a minute, and is that of the last ten minutes', () => {
  const noteMemory = createMemoryTrend();
  expect(noteMemory(0, 1_000)).toBeUndefined();
  expect(noteMemory(29_999, 50_000)).toBeUndefined();
  expect(noteMemory(40_000, 5_000)).toBe(100);
  // From here on it shrinks.
  for (let at = 50_000; at <= 700_000; at += 10_000) noteMemory(at, 5_000 - at / 1_000);
  expect(noteMemory(710_000, 5_000 - 710)).toBeCloseTo(-1, 5);
});
