import { ATTEMPT_BINS, FIELDS, fieldsOf } from './counter-layout.ts';
import { timeToEmpty, toSentPerSecond } from './stats-reader.ts';

test.each([
  { due: 500_000, acceptedPerSecond: 0, deliveredPerSecond: 50, ms: 10_000_000 },
  { due: 1_000, acceptedPerSecond: 40, deliveredPerSecond: 50, ms: 100_000 },
  { due: 0, acceptedPerSecond: 50, deliveredPerSecond: 0, ms: 0 },
  { due: 10, acceptedPerSecond: 50, deliveredPerSecond: 50, ms: undefined },
  { due: 10, acceptedPerSecond: 0, deliveredPerSecond: 0, ms: undefined },
])(
  '$due due, $acceptedPerSecond/s accepted and $deliveredPerSecond/s delivered take $ms ms',
  ({ due, ms, ...rates }) => {
    expect(timeToEmpty(due, rates)).toBe(ms);
  },
);

test('what a receiver is sent a second counts each attempt of the last whole minute and the present one', () => {
  const { field: failed } = fieldsOf({ isSuccess: false, durationMs: 1, arrivedAfterMs: undefined });
  const bucket = (...fields: readonly (readonly [number, number])[]) => {
    const counts = Array.from({ length: FIELDS }, () => 0);
    for (const [field, count] of fields) counts[field] = count;
    return { at: 0, counts };
  };
  const minutes = [bucket([failed, 9_000]), bucket([failed, 60], [ATTEMPT_BINS.fieldOf(5), 30]), bucket([failed, 45])];
  expect(toSentPerSecond(minutes, 1_900_000_030_000 - (1_900_000_030_000 % 60_000) + 30_000)).toBe(1.5);
});
