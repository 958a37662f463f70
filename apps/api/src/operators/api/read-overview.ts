import type { OverviewView } from './overview-view.ts';

/** Reads the state of the service as the API shows it. */
export type ReadOverview = (window: OverviewView['window']) => Promise<OverviewView>;
