/** How far back statistics look, and how long each of their buckets is. */
export const STATS_WINDOWS = {
  '1h': { buckets: 60, bucketMs: 60_000 },
  '24h': { buckets: 96, bucketMs: 900_000 },
  '7d': { buckets: 84, bucketMs: 7_200_000 },
} as const;
export type StatsWindow = keyof typeof STATS_WINDOWS;
