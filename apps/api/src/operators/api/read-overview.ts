import { READINESS_CODES } from '@herald/core';
import { rememberFor } from '@herald/runtime/async/remember-for';
import type { createFailedView } from '@herald/store/operators/failed-view';
import { judgeWork, judgeWorkers } from '@herald/store/backlog/judge-work';
import type { createMemoryTrend } from '@herald/store/operators/memory-trend';
import type { Readiness } from '@herald/store/readiness/create-readiness';
import type { ServiceState } from '@herald/store/service-state/create-service-state-reader';
import { GONE_AFTER_MS, type ProcessPresence } from '@herald/store/shards/process-presence';
import type { StatsReader } from '@herald/store/stats/stats-reader';
import { toTime } from '../../http/to-time.ts';
import { toBacklog, toBucket, toMemory, toPendingWork, toProcess } from './overview-parts.ts';
import type { OverviewView } from './overview-view.ts';

/** However many pages ask, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;

export type ReadOverviewDeps = {
  readonly readServiceState: () => Promise<ServiceState>;
  readonly readReadiness: () => Promise<Readiness>;
  readonly processes: Pick<ProcessPresence, 'list'>;
  readonly stats: Pick<StatsReader, 'ofService'>;
  readonly failed: Pick<ReturnType<typeof createFailedView>, 'count'>;
  readonly noteMemory: ReturnType<typeof createMemoryTrend>;
  /** Epoch ms. */
  readonly now: () => number;
};

type Window = OverviewView['window'];

/** Reads the state of the service as the API shows it. */
export function createReadOverview(deps: ReadOverviewDeps) {
  const { readServiceState, readReadiness, processes, stats, failed, noteMemory, now } = deps;
  const read = async (window: Window): Promise<OverviewView> => {
    const at = now();
    const [state, readiness, seen, buckets, failedLately] = await Promise.all([
      readServiceState(),
      readReadiness(),
      processes.list(),
      stats.ofService(window),
      failed.count(at),
    ]);
    const work = toPendingWork(state, failedLately);
    return {
      at: toTime(at),
      window,
      bucketSeconds: window === '1h' ? 60 : 900,
      now: {
        ...state.rates,
        ...toBacklog(work),
        ...(state.emptyInMs !== undefined && { emptyInMs: state.emptyInMs }),
      },
      processes: seen.filter(({ sign }) => sign > at - GONE_AFTER_MS).map(toProcess),
      redis: toMemory(state.memory, state.memory && noteMemory(at, state.memory.usedBytes)),
      workspaces: [...state.workspaces],
      buckets: buckets.map(toBucket),
      findings: [...toFindings(readiness), ...judgeWorkers(work), ...judgeWork(work)],
    };
  };
  const remembered = {
    '1h': rememberFor(REMEMBERED_MS, () => read('1h')),
    '24h': rememberFor(REMEMBERED_MS, () => read('24h')),
  };
  return async (window: Window): Promise<OverviewView> => await remembered[window]();
}
/** What `/readyz` says, without the workers: who judges these knows what waits for them. */
function toFindings({ problems, warnings }: Readiness): OverviewView['findings'] {
  const actions: Readonly<Record<string, { readonly action: string }>> = READINESS_CODES;
  return [...problems, ...warnings]
    .filter(({ code }) => code !== 'no_worker')
    .map(({ level, code, sentence }) => ({ level, code, text: sentence, whatToDo: actions[code]?.action ?? '' }));
}

export type ReadOverview = ReturnType<typeof createReadOverview>;
