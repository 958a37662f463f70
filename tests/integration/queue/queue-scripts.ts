import { defineScript } from '@herald/store/redis/script';
import {
  createFinishScript,
  createPutBackScript,
  createRecoverScript,
} from '../../../packages/queue/src/worker/leases.ts';
import { RINGS } from '../../../packages/queue/src/queue-keys.ts';
import { createPause } from '../../../packages/queue/src/backend-base.ts';
import { createReserve, type Reserved, type ReserveRequest } from '../../../packages/queue/src/worker/reserve.ts';
import { LOAD_LUA, type startQueue } from './start-queue.ts';

export type ReserveOptions = {
  /** By ring: express, quick, suspect, slow; what is missing is 0. */
  readonly rooms?: readonly number[];
  readonly staleRooms?: readonly number[];
  readonly groupLimit?: number;
  readonly leaseMs?: number;
  readonly suspects?: readonly string[];
  readonly withoutRoom?: ReserveRequest['withoutRoom'];
  readonly isCautious?: boolean;
  /** Default: what no other reserve has. */
  readonly nonce?: string;
};

/** The scripts that a backend runs, one at a time and without a worker. */
export function createQueueScripts({ redis, keys }: Awaited<ReturnType<typeof startQueue>>, now: () => number) {
  const define = (_name: string, lua: string) => defineScript(redis, lua);
  const reserve = createReserve(define, keys, LOAD_LUA, (rows) => rows.map(({ row }) => row));
  const putBack = define('testPutBack', createPutBackScript(LOAD_LUA));
  const finish = define('testFinish', createFinishScript(LOAD_LUA));
  const recover = define('testRecover', createRecoverScript(LOAD_LUA));
  let reserves = 0;

  const reserveAll = ({
    rooms = [10, 10, 10, 10],
    staleRooms,
    groupLimit = 5,
    leaseMs = 20_000,
    suspects = [],
    withoutRoom = [],
    isCautious = false,
    nonce = `n${reserves++}`,
  }: ReserveOptions = {}) =>
    reserve({
      now: now(),
      leaseEndsAt: now() + leaseMs,
      nonce,
      groupLimit,
      rooms: RINGS.map((ring) => rooms[ring] ?? 0),
      ...(staleRooms && { staleRooms }),
      suspects,
      withoutRoom,
      isCautious,
    });

  return {
    reserveAll,
    async reserve(options?: ReserveOptions): Promise<readonly Reserved[]> {
      return (await reserveAll(options)).jobs;
    },
    putBack: (jobs: readonly Reserved[], dueAt = 0, limit = 5) =>
      putBack(
        [keys.leases],
        [keys.prefix, now(), limit, ...jobs.flatMap(({ handle, isProbe }) => [handle, dueAt, isProbe ? 1 : 0])],
      ),
    finish: ({ handle, isProbe }: Reserved, limit = 5) =>
      finish([keys.leases], [keys.prefix, now(), limit, handle, isProbe ? 1 : 0]),
    recover: (limit = 5, most = 200) => recover([keys.leases], [keys.prefix, now(), limit, most]),
    pause: createPause(define, keys),
  };
}
