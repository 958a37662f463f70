import type { Finding } from '@herald/runtime/findings/finding';
import { GONE_AFTER_MS } from './process-presence.ts';
import type { KnownData, ShardRecord } from './shard-record.ts';

/** The longest that processes which have seen the data vanish keep others from starting once they have ended, in ms. */
export const LOSS_KEPT_MS = GONE_AFTER_MS;

export const DATA_GONE: Finding = {
  level: 'error',
  code: 'data_lost',
  sentence:
    'the data that this process works on is gone from Redis, as after FLUSHALL, or a restart of a Redis that keeps nothing on disk; ' +
    `restore it, or stop every API and worker and start them again after ${LOSS_KEPT_MS / 1_000} s: they begin with an empty Redis`,
};

export const DATA_REPLACED: Finding = {
  level: 'error',
  code: 'data_lost',
  sentence:
    'Redis holds other data than this process has started with, since its own was deleted, or REDIS_URL leads to another Redis now; ' +
    'restore what was there, or restart this process: it works on what is there now',
};

/** Why no process starts for now: those that run would take what it enters for their data. */
export const LOSS_KNOWN: Finding = {
  level: 'error',
  code: 'data_lost',
  sentence:
    'The data in this Redis vanished while APIs or workers worked on it, as after FLUSHALL, or a restart of a Redis that keeps nothing on disk; ' +
    `restore it, or stop every API and worker and start them again after ${LOSS_KEPT_MS / 1_000} s: they begin with an empty Redis.`,
};

/** Whether nobody has entered anything: the Redis is a new one, an emptied one, or was filled by an early release. */
export function isUnrecorded({ count, movingTo }: ShardRecord): boolean {
  return count === undefined && movingTo === undefined;
}

/** Whether the data that a process has opened is still there, by the id that it had. */
export function judgeLoss({ record, dataId }: KnownData, openedId: string): Finding | undefined {
  if (isUnrecorded(record)) return DATA_GONE;
  // Without an id it is the record of a server that was behind, or of an earlier release, and gets its id again.
  return dataId === undefined || dataId === openedId ? undefined : DATA_REPLACED;
}
