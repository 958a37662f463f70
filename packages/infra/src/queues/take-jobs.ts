import { z } from 'zod';
import { readLoadedIfSound, type LoadReply } from '../deliveries/delivery-record.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { jobPrefixOf, type ShardKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import type { QueueName } from './queue-names.ts';
import { TAKE_JOBS_LUA } from './take-jobs-script.ts';

export type TakeRequest = {
  readonly limit: number;
  /** Of the jobs' locks. */
  readonly token: string;
  readonly lockMs: number;
  /** Epoch ms. */
  readonly now: number;
};

/** A job that is in work from now on, as BullMQ knows it. */
export type TakenJob = {
  readonly id: string;
  readonly name: string;
  /** When it was put in line, epoch ms. */
  readonly addedAt: number;
  /** Times it was started (this one included), ended, and left by a worker that died. */
  readonly started: number;
  readonly ended: number;
  readonly stalled: number;
  /** BullMQ wants it to fail without being worked on: it outlived too many workers. */
  readonly failure?: string;
  /** Its delivery, as it was when the job was taken; undefined when it could not be read. */
  readonly loaded: LoadReply | undefined;
};

export type Taken = {
  readonly jobs: readonly TakenJob[];
  /** Nothing waits any more. */
  readonly isEmpty: boolean;
  /** When the next delayed job is due, epoch ms; 0: there is none. */
  readonly nextAt: number;
};

/** Takes jobs; undefined where there is something that only BullMQ knows how to do. Then nothing was changed. */
export type TakeJobs = (request: TakeRequest) => Promise<Taken | undefined>;

const Count = z
  .string()
  .nullable()
  .transform((text) => Number(text ?? 0));
const Text = z.string().nullable();
const JobRow = z.tuple([z.string(), Text, Count, Count, Count, Count, Text, z.unknown()]);
const TakeReply = z.union([
  z.tuple([z.literal('other')]),
  z.tuple([z.literal('taken'), z.array(JobRow), z.number(), z.number()]),
]);

export type TakeJobsDeps = { readonly redis: RedisClient; readonly keys: ShardKeys; readonly queue: QueueName };

export function createTakeJobs({ redis, keys: shard, queue }: TakeJobsDeps): TakeJobs {
  const takeJobs = defineScript(redis, 'takeJobs', TAKE_JOBS_LUA);
  const jobPrefix = jobPrefixOf(shard, queue);
  const keys = ['wait', 'active', 'meta', 'delayed', 'prioritized', 'marker'].map((type) => jobPrefix + type);
  return async ({ limit, token, lockMs, now }) => {
    const reply = TakeReply.parse(await takeJobs(keys, [shard.prefix, jobPrefix, limit, now, token, lockMs]));
    if (reply[0] === 'other') return undefined;
    const [, rows, isEmpty, nextAt] = reply;
    const jobs = rows.map(([id, name, addedAt, started, ended, stalled, failure, row]) => ({
      ...{ id, name: name ?? '', addedAt, started, ended, stalled },
      ...(failure !== null && { failure }),
      loaded: readLoadedIfSound(id, row),
    }));
    return { jobs, isEmpty: isEmpty === 1, nextAt };
  };
}
