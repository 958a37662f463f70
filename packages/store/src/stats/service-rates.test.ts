import { timeToEmpty } from './service-rates.ts';

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
