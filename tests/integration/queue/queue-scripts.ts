import { defineScript } from '@herald/infra';
import {
  createFinishScript,
  PAUSE_LUA,
  PUT_BACK_LUA,
  RECOVER_LUA,
} from '../../../packages/queue/src/scripts/end-scripts.ts';
import { createReserve, type ReserveReply, type Reserved } from '../../../packages/queue/src/worker/reserve.ts';
import { LOAD_LUA, type startQueue } from './start-queue.ts';

export type ReserveOptions = {
  /** By ring: express, sound, suspect. */
  readonly rooms?: readonly [number, number, number];
  readonly groupLimit?: number;
  readonly leaseMs?: number;
  readonly slowGroups?: readonly string[];
};

/** The scripts that a backend runs, one at a time and without a worker. */
export function createQueueScripts({ redis, keys }: Awaited<ReturnType<typeof startQueue>>, now: () => number) {
  const define = (name: string, lua: string) => defineScript(redis, name, lua);
  const reserve = createReserve(define, keys, LOAD_LUA, (rows) => rows.map(({ row }) => row));
  const putBack = define('testPutBack', PUT_BACK_LUA);
  const finish = define('testFinish', createFinishScript(LOAD_LUA));
  const recover = define('testRecover', RECOVER_LUA);
  const pause = define('testPause', PAUSE_LUA);
  let reserves = 0;

  const reserveAll = ({
    rooms = [10, 10, 10],
    groupLimit = 5,
    leaseMs = 20_000,
    slowGroups = [],
  }: ReserveOptions = {}) =>
    reserve({ now: now(), leaseEndsAt: now() + leaseMs, nonce: `n${reserves++}`, groupLimit, rooms, slowGroups });

  return {
    reserveAll,
    async reserve(options?: ReserveOptions): Promise<readonly Reserved[]> {
      return jobsOf(await reserveAll(options));
    },
    putBack: (jobs: readonly Reserved[], dueAt = 0, limit = 5) =>
      putBack(
        [keys.leases],
        [keys.prefix, now(), limit, ...jobs.flatMap(({ handle, isProbe }) => [handle, dueAt, isProbe ? 1 : 0])],
      ),
    finish: ({ handle, isProbe }: Reserved, limit = 5) =>
      finish([keys.leases], [keys.prefix, now(), limit, handle, isProbe ? 1 : 0]),
    recover: (limit = 5, most = 200) => recover([keys.leases], [keys.prefix, now(), limit, most]),
    pause: (isPaused: boolean) =>
      pause(
        [keys.settings, ...([0, 1, 2] as const).map(keys.ready), ...([0, 1, 2] as const).map(keys.wake)],
        [isPaused ? '1' : '0'],
      ),
  };
}

function jobsOf(reply: ReserveReply): readonly Reserved[] {
  return reply.kind === 'paused' ? [] : reply.jobs;
}
