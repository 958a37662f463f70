import type { PendingWork } from '@herald/store/backlog/judge-work';
import type { ServiceState } from '@herald/store/service-state/create-service-state-reader';
import type { SeenProcess } from '@herald/store/shards/process-presence';
import { ARRIVAL_BINS } from '@herald/store/stats/attempt-fields';
import type { CountedBucket } from '@herald/store/stats/counter-layout';
import { toServiceCounts } from '@herald/store/stats/service-rates';
import { toTime } from '../../http/to-time.ts';
import type { OverviewView } from './overview-view.ts';

export function toPendingWork({ at, workers, shards }: ServiceState, failedLately: number): PendingWork {
  const sumOf = (health: 'breaker_open' | 'stopped') => ({
    receivers: shards.reduce((sum, { queue }) => sum + queue.byHealth[health].groups, 0),
    deliveries: shards.reduce((sum, { queue }) => sum + queue.byHealth[health].due, 0),
  });
  return {
    workers,
    queues: shards.map(({ queue: { waiting, active, delayed, oldestDueAt = at, isPaused } }, shard) => ({
      shard,
      queue: 'deliveries',
      waiting,
      active,
      delayed,
      oldestDueMs: Math.max(0, at - oldestDueAt),
      isPaused,
    })),
    unanswered: sumOf('breaker_open'),
    stopped: sumOf('stopped'),
    failedLately,
  };
}

/** What waits, over all shards. */
export function toBacklog({ queues }: PendingWork) {
  const sumOf = (name: 'waiting' | 'active' | 'delayed') => queues.reduce((sum, queue) => sum + queue[name], 0);
  const oldestDueMs = Math.max(...queues.map((queue) => queue.oldestDueMs));
  return {
    waiting: sumOf('waiting'),
    active: sumOf('active'),
    delayed: sumOf('delayed'),
    ...(oldestDueMs > 0 && { oldestDueMs }),
    isPaused: queues.some(({ isPaused }) => isPaused),
  };
}

export function toBucket({ at, counts }: CountedBucket): OverviewView['buckets'][number] {
  const [p50Ms, p99Ms] = [ARRIVAL_BINS.quantile(counts, 0.5), ARRIVAL_BINS.quantile(counts, 0.99)];
  return {
    at: toTime(at),
    ...toServiceCounts(counts),
    ...(p50Ms !== undefined && { p50Ms }),
    ...(p99Ms !== undefined && { p99Ms }),
  };
}

export function toProcess({ name, sign }: SeenProcess): OverviewView['processes'][number] {
  const [role = '', ...rest] = name.split(':');
  return { role: role === 'worker' ? 'worker' : 'api', id: rest.at(-1) ?? '', lastSeenAt: toTime(sign) };
}

/** @param bytesPerSecond undefined: not known yet */
export function toMemory(memory: ServiceState['memory'], bytesPerSecond: number | undefined): OverviewView['redis'] {
  if (!memory) return {};
  const { usedBytes, limitBytes } = memory;
  const grows = limitBytes > 0 && bytesPerSecond !== undefined && bytesPerSecond > 0;
  return {
    usedBytes,
    ...(limitBytes > 0 && { maxBytes: limitBytes }),
    ...(bytesPerSecond !== undefined && { bytesPerSecond }),
    ...(grows && { fullInSeconds: Math.round(Math.max(0, limitBytes - usedBytes) / bytesPerSecond) }),
  };
}
