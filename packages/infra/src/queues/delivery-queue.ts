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
  readonly close: () => Promise<void>;
};

const JOBS_PER_CALL = 1_000;
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
    close: () => queue.close(),
  };
}

/** The delivery's job. Its record says what to send, and whether; nothing else may go stale in the line. */
function toBulkJob({ id, event, dueAt }: DeliveryJob, now: number) {
  const delay = Math.max(0, (dueAt ?? now) - now);
  return { name: event, data: {}, opts: { jobId: id, ...(delay > 0 && { delay }) } };
}
