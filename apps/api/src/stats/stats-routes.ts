import { workspaceOf } from '../http/request-state.ts';
import { operation, type KeyedRouteTable } from '../http/operation.ts';
import type { ReadWorkspaceStats } from './read-stats.ts';
import { ReadStats, StatsView } from './stats-view.ts';

export type StatsRoutesDeps = { readonly readStats: ReadWorkspaceStats };

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
