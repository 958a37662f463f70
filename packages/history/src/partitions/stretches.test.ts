import fc from 'fast-check';
import { DAY_MS } from './partitions.ts';
import { divideDays } from './stretches.ts';

const time = fc.integer({ min: 0, max: 1_200 * DAY_MS });

test.each(['newest', 'any', 'oldest'] as const)('%s first: without a gap, and none has more than 30 days', (order) => {
  const property = fc.property(time, time, (a, b) => {
    const [from, to] = a < b ? [a, b] : [b, a + 1];
    const stretches = divideDays({ from, to }, order);
    const ascending = order === 'oldest' ? stretches : stretches.toReversed();
    expect([from, ...ascending.map((each) => each.to)]).toEqual([...ascending.map((each) => each.from), to]);
    const days = stretches.map((each) => Math.ceil(each.to / DAY_MS) - Math.floor(each.from / DAY_MS));
    expect(Math.min(...days)).toBeGreaterThan(0);
    expect(Math.max(...days)).toBeLessThanOrEqual(30);
  });
  fc.assert(property);
});

test('nothing is divided into nothing, and the newest first begin with two days', () => {
  expect(divideDays({ from: 5, to: 5 }, 'newest')).toEqual([]);
  expect(divideDays({ from: 0, to: 20 * DAY_MS }, 'newest')[0]).toEqual({ from: 18 * DAY_MS, to: 20 * DAY_MS });
});
