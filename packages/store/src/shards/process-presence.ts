import { GLOBAL_KEYS, readScoredIds } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { createShow } from '../redis/script.ts';
import { LAYOUT } from '../keys/layout.ts';

export type ProcessRole = 'api' | 'worker';

/** How often a process shows itself, in ms. */
export const SEEN_EVERY_MS = 4_000;
/** A process whose sign hasn't changed for so long has no right to the data any more, in ms. */
export const GONE_AFTER_MS = 15_000;
/** The sign of a dead process is deleted after this, in ms. */
const KEPT_MS = 3_600_000;

/** A process with the data open, and its last sign. A new sign proves that it lives, whatever its clock says. */
export type SeenProcess = {
  readonly name: string;
  /** The layout that it works on; 1: a former version. */
  readonly layout: number;
  readonly sign: number;
};

/**
 * Records which processes have the data open.
 * @param clock Redis' time, epoch ms: by another clock, a process would delete the signs of the others
 */
export function createProcessPresence(redis: RedisClient, clock: () => number) {
  const key = GLOBAL_KEYS.processes;
  const show = createShow(redis);
  const nameOf = (role: ProcessRole, id: string) => `${role}:${LAYOUT}:${id}`;
  return {
    show: (role: ProcessRole, id: string) => show(key, nameOf(role, id), clock(), KEPT_MS),
    async leave(role: ProcessRole, id: string): Promise<void> {
      await redis.zrem(key, nameOf(role, id));
    },
    async list(): Promise<SeenProcess[]> {
      const rows = readScoredIds(await redis.zrange(key, 0, '-1', 'WITHSCORES'));
      const layoutOf = (name: string) => Number(/^\w+:(\d+):/.exec(name)?.[1] ?? 1);
      return rows.map(({ id, score }) => ({ name: id, sign: score, layout: layoutOf(id) }));
    },
  };
}
export type ProcessPresence = ReturnType<typeof createProcessPresence>;
