import fc from 'fast-check';
import { DAY_MS } from '../partitions/partitions.ts';
import { divideDays } from './divide-days.ts';

const time = fc.integer({ min: 0, max: 1_200 * DAY_MS });

test.each(['newest', 'any', 'oldest'] as const)(
  '%s first: without a gap, in order, and none has more than 30 days',
  (order) => {
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const stretches = divideDays({ from, to }, order);
        const ascending = order === 'oldest' ? stretches : stretches.toReversed();
        expect(ascending.length > 0).toBe(from < to);
        if (from === to) return;
        expect([ascending[0]?.from, ascending.at(-1)?.to]).toEqual([from, to]);
        for (const [index, each] of ascending.entries()) {
          if (index > 0) expect(each.from).toBe(ascending[index - 1]?.to);
          const days = Math.ceil(each.to / DAY_MS) - Math.floor(each.from / DAY_MS);
          expect(days).toBeGreaterThan(0);
          expect(days).toBeLessThanOrEqual(30);
        }
      }),
    );
  },
);

test('the first stretch is two days: most of what is read lies there', () => {
  expect(divideDays({ from: 0, to: 20 * DAY_MS }, 'newest')[0]).toEqual({ from: 18 * DAY_MS, to: 20 * DAY_MS });
});
