import { READINESS_CODES } from '@herald/core';
import { rememberFor } from '@herald/runtime/async';
import { judgeWork, judgeWorkers, type PendingWork } from '@herald/store/operators/judge-work';
import type { createFailedView } from '@herald/store/operators/describe-delivery';
import type { createMemoryTrend, ServiceState } from '@herald/store/operators/create-service-state-reader';
import type { Readiness } from '@herald/store/operators/create-readiness';
import { GONE_AFTER_MS, type ProcessPresence, type SeenProcess } from '@herald/store/data/find-running';
import { ARRIVAL_BINS, type CountedBucket } from '@herald/store/stats/counter-layout';
import { toServiceCounts, type StatsReader } from '@herald/store/stats/stats-reader';
import { z } from 'zod';
import { TimeText, toTime } from '../http/answer-fields.ts';

/** However many pages ask, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;

type ReadOverviewDeps = {
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
/**
 * What `/readyz` says, without the workers: who judges these knows what waits for them. Most of its sentences end with
 * what to do, which then isn't said twice.
 */
export function toFindings({ problems, warnings }: Pick<Readiness, 'problems' | 'warnings'>): OverviewView['findings'] {
  const actions: Readonly<Record<string, { readonly action: string }>> = READINESS_CODES;
  return [...problems, ...warnings]
    .filter(({ code }) => code !== 'no_worker')
    .map(({ level, code, sentence }) => {
      const [text = '', ...advice] = sentence.split('; ');
      return { level, code, text, whatToDo: advice.length > 0 ? advice.join('; ') : (actions[code]?.action ?? '') };
    });
}

export type ReadServiceOverview = ReturnType<typeof createReadOverview>;

/** Query of the overview. */
export const ReadOverview = z.strictObject({
  window: z
    .enum(['1h', '24h'])
    .meta({ id: 'OverviewWindow' })
    .default('1h')
    .meta({ description: 'How far back the buckets go. Default: 1h.' }),
});

const Count = z.int().min(0);
const Rate = z.number().min(0);
const Ms = z.int().min(0).exactOptional();

const FindingFields = z
  .strictObject({
    level: z.enum(['error', 'warning']),
    code: z.string().meta({ description: 'Stable, in snake_case.', examples: ['breaker_open'] }),
    text: z.string().meta({ description: 'What is wrong.' }),
    whatToDo: z.string(),
  })
  .meta({ id: 'ServiceFinding' });

/** The state of the whole service. */
export const OverviewView = z
  .strictObject({
    at: TimeText,
    window: z.enum(['1h', '24h']),
    bucketSeconds: z.literal([60, 900]),
    now: z
      .strictObject({
        acceptedPerSecond: Rate,
        deliveredPerSecond: Rate,
        successRate: z.number().min(0).max(1).exactOptional(),
        arrivalP50Ms: Ms,
        arrivalP99Ms: Ms,
        waiting: Count.meta({ description: 'Deliveries that are due and wait only for a worker or a slot.' }),
        active: Count.meta({ description: 'Deliveries in work.' }),
        delayed: Count.meta({ description: 'Deliveries that are not due, or whose receiver is left alone.' }),
        oldestDueMs: Ms,
        emptyInMs: Count.meta({
          description:
            'When what is due will be sent, at these rates. Absent: never, since as much comes as goes, or nothing goes.',
        }).exactOptional(),
        isPaused: z.boolean(),
      })
      .meta({
        description:
          'Rates are of the last minute or two. `arrival…`: from the acceptance of a delivery to the end of its first attempt, of those that succeeded at once; at most this, to a power of two. Absent: nothing happened.',
      }),
    processes: z
      .array(z.strictObject({ role: z.enum(['api', 'worker']), id: z.string(), lastSeenAt: TimeText }))
      .meta({ description: 'Those seen lately.' }),
    redis: z
      .strictObject({
        usedBytes: Count.exactOptional(),
        maxBytes: Count.meta({ description: 'Absent without a limit.' }).exactOptional(),
        bytesPerSecond: z.number().meta({ description: 'How fast it grows. Absent at first.' }).exactOptional(),
        fullInSeconds: Count.meta({ description: 'When it is full at this rate.' }).exactOptional(),
      })
      .meta({ description: 'Memory of all masters. Empty where Redis does not tell.' }),
    workspaces: z.array(z.strictObject({ workspaceId: z.string(), pending: Count, bytes: Count })).meta({
      description:
        'The ten that hold the most, largest first. `bytes`: roughly what their Tasks, facts, bodies, attempts and kept answers take in Redis.',
    }),
    buckets: z.array(
      z.strictObject({
        at: TimeText,
        accepted: Count,
        delivered: Count,
        failedAttempts: Count,
        p50Ms: Ms,
        p99Ms: Ms,
      }),
    ),
    findings: z.array(FindingFields).meta({ description: 'What is wrong now, in the words of `herald doctor`.' }),
  })
  .meta({ id: 'Overview' });
export type OverviewView = z.infer<typeof OverviewView>;

function toPendingWork({ at, workers, shards }: ServiceState, failedLately: number): PendingWork {
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
function toBacklog({ queues }: PendingWork) {
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

function toBucket({ at, counts }: CountedBucket): OverviewView['buckets'][number] {
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
