import type { EndpointId, WorkspaceId } from '@herald/core';
import { ATTEMPT_BINS, failedOf } from '@herald/store/stats/attempt-fields';
import { addCounts, type CountedBucket } from '@herald/store/stats/counter-layout';
import type { StatsReader } from '@herald/store/stats/stats-reader';
import { STATS_WINDOWS, type StatsWindow } from '@herald/store/stats/stats-window';
import { toTime } from '../http/to-time.ts';
import type { StatsView } from './stats-view.ts';

/** Reads statistics as the API shows them. */
export function createReadStats(stats: Pick<StatsReader, 'ofReceiver' | 'ofWorkspace'>) {
  return {
    ofWorkspace: async (workspaceId: WorkspaceId, window: StatsWindow) =>
      toStatsView(window, await stats.ofWorkspace(workspaceId, window)),
    ofReceiver: async (workspaceId: WorkspaceId, id: EndpointId, window: StatsWindow) =>
      toStatsView(window, await stats.ofReceiver(workspaceId, id, window)),
  };
}
export type ReadWorkspaceStats = ReturnType<typeof createReadStats>;

export function toStatsView(window: StatsWindow, buckets: readonly CountedBucket[]): StatsView {
  const { bucketMs } = STATS_WINDOWS[window];
  const [first, last] = [buckets[0]?.at ?? 0, buckets.at(-1)?.at ?? 0];
  const totals = toCounts(buckets.reduce<number[]>((sum, { counts }) => addCounts(sum, counts), []));
  const attempts = totals.delivered + totals.failedAttempts;
  return {
    window,
    bucketSeconds: bucketMs / 1_000,
    since: toTime(first),
    until: toTime(last + bucketMs),
    buckets: buckets.map(({ at, counts }) => ({ at: toTime(at), ...toCounts(counts) })),
    totals: { ...totals, ...(attempts > 0 && { successRate: totals.delivered / attempts }) },
  };
}

function toCounts(counts: readonly number[]) {
  const p50Ms = ATTEMPT_BINS.quantile(counts, 0.5);
  const p95Ms = ATTEMPT_BINS.quantile(counts, 0.95);
  return {
    delivered: ATTEMPT_BINS.sum(counts),
    failedAttempts: failedOf(counts),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}
