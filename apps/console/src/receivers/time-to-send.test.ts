import type { Schemas } from '../api/client.ts';
import { timeToSend } from './time-to-send.ts';

const UNTIL = Date.UTC(2030, 0, 1);

function statsOf(...sent: readonly number[]): Schemas['Stats'] {
  const buckets = sent.map((delivered) => ({ at: '', delivered, failedAttempts: 0 }));
  return { bucketSeconds: 60, until: new Date(UNTIL).toISOString(), buckets } as unknown as Schemas['Stats'];
}

test.each([
  {
    what: 'a present minute that has just begun',
    buckets: [9_999, 3_000, 0],
    now: UNTIL - 60_000,
    perSecond: 50,
    ms: 10_000,
  },
  { what: 'one that is half over', buckets: [9_999, 3_000, 1_500], now: UNTIL - 30_000, perSecond: 50, ms: 10_000 },
  { what: 'nothing that was sent', buckets: [9_999, 0, 0], now: UNTIL - 30_000, perSecond: 0, ms: undefined },
  { what: 'a clock that is ahead', buckets: [6_000, 6_000], now: UNTIL + 3_600_000, perSecond: 100, ms: 5_000 },
])('500 deliveries and $what: $perSecond a second, and $ms ms', ({ buckets, now, perSecond, ms }) => {
  expect(timeToSend(500, statsOf(...buckets), now)).toEqual({ perSecond, ms });
});
