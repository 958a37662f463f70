import type { Keyspace } from '@herald/store/keys/keys';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import { setTimeout as pause } from 'node:timers/promises';
import { createWaitJudge, type WaitJudge } from './judge-waits.ts';
import { lookAtQueue } from './look-at-queue.ts';

const LOOK_EVERY_MS = 500;
/** A slower answer of Redis counts as a fault, in ms. */
const ANSWER_WITHIN_MS = 1_000;

export type QueueWatch = AsyncDisposable & {
  /** Stops looking. */
  readonly stop: () => Promise<Pick<WaitJudge, 'violations' | 'looks' | 'longestMs'>>;
};

/**
 * Looks at the queue twice a second for deliveries that wait without a reason.
 * @param ableSince since when some worker has been able to work, by `performance.now`; undefined: none is able
 */
export function watchQueue(redis: RedisClient, { shards }: Keyspace, ableSince: () => number | undefined): QueueWatch {
  const judge = createWaitJudge();
  const stopping = new AbortController();
  const look = async () => {
    const groups = await Promise.race([
      Promise.all(shards.map((keys) => lookAtQueue(redis, keys))),
      pause(ANSWER_WITHIN_MS, undefined),
    ]);
    if (groups) judge.look(performance.now(), ableSince(), groups);
    else judge.skip();
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      // An unreachable Redis is one of the faults.
      await look().catch(judge.skip);
      await pause(LOOK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  const stop = async () => {
    stopping.abort();
    await running;
    return judge;
  };
  return {
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
