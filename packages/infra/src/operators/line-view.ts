import type { DeliveryId } from '@herald/core';
import { Queue, type Job } from 'bullmq';
import { DELAYED_SCORE_FACTOR } from '../queues/delivery-queue.ts';
import type { QueueName } from '../queues/queue-names.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../redis/keys.ts';
import { describeDeliveries, type DeliveryDescription } from './describe-deliveries.ts';

/** Where a job can be: finished ones leave at once. */
export const LINE_STATES = ['active', 'waiting', 'delayed'] as const;
export type LineState = (typeof LINE_STATES)[number];

/** A delivery's place in a queue, and what the place is for. Times are epoch ms. */
export type LineJob = {
  readonly id: DeliveryId;
  readonly event: string;
  readonly addedAt: number;
  /** When it is due; only while it waits for a time. */
  readonly runsAt?: number;
  /** When a worker last took it. */
  readonly takenAt?: number;
  /** Absent when there is no record of it: then nothing will be sent. */
  readonly delivery?: DeliveryDescription;
};

/** What operators see of one queue of one shard, and the one thing that they may do to it. */
export type LineView = {
  readonly count: () => Promise<Record<LineState, number>>;
  readonly list: (states: readonly LineState[], start: number, end: number) => Promise<readonly LineJob[]>;
  readonly find: (id: DeliveryId) => Promise<(LineJob & { readonly state: LineState }) | undefined>;
  readonly isPaused: () => Promise<boolean>;
  /** Workers take nothing more from the queue until it is resumed; what waits in backlogs goes on. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  /** Connections of its workers, as Redis lists them. */
  readonly listWorkers: () => Promise<Record<string, string>[]>;
  readonly close: () => Promise<void>;
};

export type LineViewDeps = { readonly redis: RedisClient; readonly keys: ShardKeys; readonly name: QueueName };

export function createLineView({ redis, keys, name }: LineViewDeps): LineView {
  // Whoever only looks must not write the queue's settings.
  const options = { connection: redis, prefix: keys.bullPrefix, skipWaitingForReady: true, skipMetasUpdate: true };
  const queue = new Queue(name, options);
  // The connection reports its own errors; without a listener a second report would end the process.
  queue.on('error', () => undefined);

  const describe = async (jobs: readonly Job[]): Promise<LineJob[]> => {
    const ids = jobs.map(({ id }) => id ?? '');
    const [descriptions, scores] = await Promise.all([
      describeDeliveries(redis, keys, ids),
      Promise.all(ids.map((id) => redis.zscore(queue.toKey('delayed'), id))),
    ]);
    return jobs.map((job, index) => toLineJob(job, scores[index] ?? null, descriptions[index]));
  };

  return {
    async count() {
      const { active = 0, waiting = 0, delayed = 0 } = await queue.getJobCounts('active', 'waiting', 'delayed');
      return { active, waiting, delayed };
    },
    async list(states, start, end) {
      const jobs: (Job | undefined)[] = await queue.getJobs([...states], start, end);
      // A job that left between the look at its list and the look at itself is none.
      return await describe(jobs.filter((job) => job !== undefined));
    },
    async find(id) {
      const job = await queue.getJob(id);
      if (!job) return undefined;
      const [[found], state] = await Promise.all([describe([job]), job.getState()]);
      return found && isLineState(state) ? { ...found, state } : undefined;
    },
    isPaused: () => queue.isPaused(),
    pause: () => queue.pause(),
    resume: () => queue.resume(),
    listWorkers: () => queue.getWorkers(),
    close: () => queue.close(),
  };
}

function toLineJob(job: Job, delayedScore: string | null, delivery: DeliveryDescription | undefined): LineJob {
  return {
    id: job.id ?? '',
    event: job.name,
    addedAt: job.timestamp,
    // The job itself knows only by how much it was last delayed, not since when.
    ...(delayedScore !== null && { runsAt: Math.floor(Number(delayedScore) / DELAYED_SCORE_FACTOR) }),
    ...(job.processedOn !== undefined && { takenAt: job.processedOn }),
    ...(delivery && { delivery }),
  };
}

function isLineState(state: string): state is LineState {
  return LINE_STATES.some((known) => known === state);
}
