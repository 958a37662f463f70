import { type EndpointId, namedEndpoint, NameEndpoint, NotFoundError, type WorkspaceId } from '@herald/core';
import type { ActivityReader } from '@herald/store/stats/activity-reader';
import {
  ATTEMPT_BINS,
  failedOf,
  addCounts,
  type CountedBucket,
  STATS_WINDOWS,
  type StatsWindow,
} from '@herald/store/stats/counter-layout';
import type { StatsReader } from '@herald/store/stats/stats-reader';
import { z } from 'zod';
import { type KeyedRouteTable, operation } from '../http/operation.ts';
import { workspaceOf } from '../http/request-state.ts';
import { TimeText, toTime } from '../http/answer-fields.ts';

type StatsRoutesDeps = { readonly readStats: ReadWorkspaceStats };

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
  p50Ms: Ms.meta({
    description: `Half of the successful attempts took at most this. It is the end of a range that is 1.6 times as long as the one before, so it may be more than any of them took. ${ATTEMPT_BINS.longest + 1}: they took longer than ${ATTEMPT_BINS.longest}. Absent when there were none.`,
  }),
  p95Ms: Ms.meta({ description: 'As `p50Ms`, of 95 percent.' }),
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
    description: 'What attempts came to. Durations are upper limits, from coarse counters.',
  });
export type StatsView = z.infer<typeof StatsView>;

/** The statistics of a workspace. Those of one receiver are among the operations of receivers. */
export const STATS_ROUTES: KeyedRouteTable<StatsRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/stats',
  access: 'webhooks',
  forPortalLinks: true,
  ids: {},
  operations: [
    operation('readStats', 'GET /', {
      summary: 'Read what attempts of the workspace came to',
      description: 'Those to receivers and to callbacks, by time.',
      query: ReadStats,
      answer: { status: 200, description: 'The statistics.', schema: StatsView },
      async handle({ readStats }, req, _res, { window }) {
        return await readStats.ofWorkspace(workspaceOf(req), window);
      },
    }),
  ],
};

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

function toStatsView(window: StatsWindow, buckets: readonly CountedBucket[]): StatsView {
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

type ActivityRoutesDeps = { readonly activity: ActivityReader };

const ActivityView = z
  .strictObject({
    version: z.string().min(1).max(64).meta({ description: 'Compare it with the last one. It has no other meaning.' }),
  })
  .meta({ id: 'Activity', description: 'Whether anything happened since the last look.' });

/** The cheap question of a page that watches: is there anything newer? */
export const ACTIVITY_ROUTES: KeyedRouteTable<ActivityRoutesDeps> = {
  tag: 'Deliveries',
  path: '/api/public/activity',
  access: 'webhooks',
  forPortalLinks: true,
  ids: {},
  operations: [
    operation('readActivity', 'GET /', {
      summary: 'Ask whether anything happened',
      description:
        'Of a receiver, of a callback, or of the whole workspace. The version changes when a delivery is accepted, attempted, redelivered or replayed, and when a receiver changes or its pending deliveries are canceled. It costs much less than a list: ask every few seconds, and read the list when the version has changed. It looks at no delivery, so it does not tell of the attempt of a test event, of what a removed receiver still had waiting, nor, for the whole workspace, of a redelivery to a callback before its attempt. So read the list every few minutes too. It may change although nothing happened.',
      query: NameEndpoint,
      answer: { status: 200, description: 'The version.', schema: ActivityView },
      problems: ['receiver_not_found'],
      async handle({ activity }, req, _res, query) {
        const endpoint = namedEndpoint(query);
        const version = await activity.readVersion(workspaceOf(req), endpoint);
        if (version === undefined) throw new NotFoundError('receiver', endpoint ?? '');
        return { version };
      },
    }),
  ],
};
