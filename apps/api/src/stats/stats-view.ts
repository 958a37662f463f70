import { STATS_WINDOWS, type StatsWindow } from '@herald/store/stats/stats-window';
import { z } from 'zod';
import { TimeText } from '../http/to-time.ts';

const WINDOWS = Object.keys(STATS_WINDOWS) as [StatsWindow, ...StatsWindow[]];
const BUCKET_SECONDS = Object.values(STATS_WINDOWS).map(({ bucketMs }) => bucketMs / 1_000);

const StatsWindowText = z.enum(WINDOWS).meta({ id: 'StatsWindow' });

/** Query of statistics. */
export const ReadStats = z.strictObject({
  window: StatsWindowText.default('24h').meta({ description: 'How far back it looks. Default: 24h.' }),
});

const Count = z.int().min(0);
const Ms = z.int().min(0).exactOptional();

/** What attempts came to. */
const CountFields = {
  delivered: Count.meta({ description: 'Successful attempts. Test events do not count.' }),
  failedAttempts: Count.meta({ description: 'Attempts that failed. Each retry counts.' }),
  p50Ms: Ms.meta({ description: 'Half of the successful attempts took at most this. Absent when there were none.' }),
  p95Ms: Ms,
};

const SuccessRate = z
  .number()
  .min(0)
  .max(1)
  .meta({ description: 'Successful ones among all attempts. Absent without attempts.' });

/** What attempts came to in a window of time. */
export const StatsView = z
  .strictObject({
    window: z.enum(WINDOWS),
    bucketSeconds: z.literal(BUCKET_SECONDS),
    since: TimeText,
    until: TimeText,
    buckets: z
      .array(z.strictObject({ at: TimeText.meta({ description: 'When it begins.' }), ...CountFields }))
      .meta({ description: 'Oldest first. Always all of them, also those in which nothing happened.' }),
    totals: z.strictObject({ ...CountFields, successRate: SuccessRate.exactOptional() }),
  })
  .meta({
    id: 'Stats',
    description: 'What attempts came to. Durations are estimates from coarse counters.',
  });
export type StatsView = z.infer<typeof StatsView>;
