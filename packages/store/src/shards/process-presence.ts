import type { RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { LAYOUT } from '../redis/layout.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';

export type ProcessRole = 'api' | 'worker';

/** How often a process shows itself, in ms. */
export const SEEN_EVERY_MS = 4_000;
/** A process whose sign hasn't changed for so long has no right to the data any more, in ms. */
export const GONE_AFTER_MS = 15_000;
/** Signs of the dead leave after this, in ms. */
const KEPT_MS = 3_600_000;

/** A process that shows itself, and its last sign: another one than before says that it lives, whatever its clock says. */
export type SeenProcess = {
  readonly name: string;
  readonly role: ProcessRole;
  /** That it works on; 1: of a former version. */
  readonly layout: number;
  readonly sign: number;
};

/** Which processes have the data open. */
export type ProcessPresence = {
  readonly show: (role: ProcessRole, id: string) => Promise<void>;
  readonly leave: (role: ProcessRole, id: string) => Promise<void>;
  readonly list: () => Promise<readonly SeenProcess[]>;
};

/** @param clock Redis' time, epoch ms: by another clock, one process would remove the signs of the others */
export function createProcessPresence(redis: RedisClient, clock: () => number): ProcessPresence {
  const key = GLOBAL_KEYS.processes;
  const nameOf = (role: ProcessRole, id: string) => `${role}:${LAYOUT}:${id}`;
  return {
    async show(role, id) {
      const now = clock();
      await Promise.all([
        redis.zadd(key, now, nameOf(role, id)),
        redis.zremrangebyscore(key, '-inf', now - KEPT_MS),
        redis.pexpire(key, KEPT_MS),
      ]);
    },
    async leave(role, id) {
      await redis.zrem(key, nameOf(role, id));
    },
    async list() {
      const rows = await redis.zrange(key, 0, '-1', 'WITHSCORES');
      return readScoredIds(rows).map(({ id, score }) => ({
        name: id,
        sign: score,
        role: id.startsWith('api:') ? 'api' : 'worker',
        layout: Number(/^\w+:(\d+):/.exec(id)?.[1] ?? 1),
      }));
    },
  };
}
