import type { DeliveryId, EventName } from '@herald/core';
import { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { ShardKeys } from '../redis/keys.ts';
import type { QueueName } from './queue-names.ts';

/** What is put in line for a delivery: its id, the event for people who read the board, and when it is due (epoch ms). */
export type DeliveryJob = { readonly id: DeliveryId; readonly event: EventName; readonly dueAt?: number };

export type DeliveryQueue = {
  /** Adds jobs. An id that is in line already, in whatever state, stays as it is. */
  readonly add: (jobs: readonly DeliveryJob[], now: number) => Promise<void>;
  /** Adds a job that is to run now; one that waits for its time is brought forward, one in work stays as it is. */
  readonly hurry: (job: DeliveryJob, now: number) => Promise<void>;
  /** Takes jobs out of the line that wait there; one in work stays. */
  readonly remove: (ids: readonly DeliveryId[]) => Promise<void>;
  /** Jobs that a worker should have fetched by now: none while an operator has paused the queue. */
  readonly countDue: (now: number) => Promise<number>;
  readonly close: () => Promise<void>;
};

const JOBS_PER_CALL = 1_000;
/** BullMQ scores a delayed job by its time in ms, shifted by 12 bits that keep the order within one ms. */
export const DELAYED_SCORE_FACTOR = 4_096;
/** How long a worker may take to promote a job that is due, in ms. */
const PROMOTION_MS = 5_000;
const EVENT_STREAM_LENGTH = 1_000;

export type DeliveryQueueDeps = { readonly redis: RedisClient; readonly keys: ShardKeys; readonly name: QueueName };

export function createDeliveryQueue({ redis, keys, name }: DeliveryQueueDeps): DeliveryQueue {
  const queue = new Queue(name, {
    connection: redis,
    prefix: keys.bullPrefix,
    skipWaitingForReady: true,
    streams: { events: { maxLen: EVENT_STREAM_LENGTH } },
  });
  // The connection reports its own errors; without a listener a second report would end the process.
  queue.on('error', () => undefined);
  return {
    async add(jobs, now) {
      for (let start = 0; start < jobs.length; start += JOBS_PER_CALL) {
        await queue.addBulk(jobs.slice(start, start + JOBS_PER_CALL).map((job) => toBulkJob(job, now)));
      }
    },
    async hurry(job, now) {
      await queue.addBulk([toBulkJob(job, now)]);
      const known = await queue.getJob(job.id);
      // Fetched or settled in between: then there is nothing to bring forward.
      if (await known?.isDelayed()) await known?.promote().catch(ignoreNotDelayed);
    },
    async remove(ids) {
      await Promise.all(ids.map((id) => queue.remove(id)));
    },
    async countDue(now) {
      const [isPaused, waiting, overdue] = await Promise.all([
        queue.isPaused(),
        queue.getWaitingCount(),
        redis.zcount(queue.toKey('delayed'), '-inf', (now - PROMOTION_MS) * DELAYED_SCORE_FACTOR),
      ]);
      return isPaused ? 0 : waiting + overdue;
    },
    close: () => queue.close(),
  };
}

/** The delivery's job. Its record says what to send, and whether; nothing else may go stale in the line. */
function toBulkJob({ id, event, dueAt }: DeliveryJob, now: number) {
  const delay = Math.max(0, (dueAt ?? now) - now);
  return { name: event, data: {}, opts: { jobId: id, timestamp: now, ...(delay > 0 && { delay }) } };
}

/** BullMQ's answer when a job left the delayed ones between the look and the promotion. */
function ignoreNotDelayed(error: unknown): void {
  if (!(error instanceof Error) || !/not in the delayed state|missing key/i.test(error.message)) throw error;
}
