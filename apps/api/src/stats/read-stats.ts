import type { EndpointId, WorkspaceId } from '@herald/core';
import type { StatsWindow } from '@herald/store/stats/stats-window';
import type { StatsView } from './stats-view.ts';

/** Reads statistics as the API shows them. */
export type ReadWorkspaceStats = {
  ofWorkspace: (workspaceId: WorkspaceId, window: StatsWindow) => Promise<StatsView>;
  ofReceiver: (workspaceId: WorkspaceId, id: EndpointId, window: StatsWindow) => Promise<StatsView>;
};
