import { setTimeout as wait } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect-redis.ts';
import { mastersOf } from '../redis/connect-redis.ts';
import { GONE_AFTER_MS, type ProcessPresence, type SeenProcess } from './process-presence.ts';

const LOOK_EVERY_MS = 100;
/** What a connection that moves data calls itself: there may be but one. */
const MOVER = 'herald-shards-move';

/** Who else works on this Redis, as people are told; empty when nobody does. */
export type FindRunning = () => Promise<readonly string[]>;

export type FindRunningDeps = {
  readonly redis: RedisClient;
  readonly presence: Pick<ProcessPresence, 'list'>;
  /** Signs of processes that may be dead are watched for so long, in ms. */
  readonly onWatch: (processes: number, forMs: number) => void;
  readonly goneAfterMs?: number;
};

/**
 * Finds processes by their connections, also those of earlier releases, and by their signs, also one whose connection is
 * down at the moment. A sign that stays as it is for so long that its process has no right to the data any more is a dead one's.
 */
export function createFindRunning({
  redis,
  presence,
  onWatch,
  goneAfterMs = GONE_AFTER_MS,
}: FindRunningDeps): FindRunning {
  const dead = new Set<string>();
  const signOf = ({ name, sign }: SeenProcess) => `${name} ${sign}`;
  return async () => {
    const connected = await findConnected(redis);
    if (connected.length > 0) return connected;
    const first = new Set((await presence.list()).map(signOf));
    const start = performance.now();
    for (let isTold = false; ; isTold = true) {
      const seen = (await presence.list()).filter((each) => !dead.has(signOf(each)));
      const alive = seen.filter((each) => !first.has(signOf(each)));
      if (seen.length === 0) return [];
      if (alive.length > 0) return alive.map(({ name }) => name);
      const left = start + goneAfterMs - performance.now();
      if (left <= 0) {
        for (const each of seen) dead.add(signOf(each));
        return [];
      }
      if (!isTold) onWatch(seen.length, goneAfterMs);
      await wait(Math.min(left, LOOK_EVERY_MS));
    }
  };
}

/** Connections of APIs and workers, and of others who move; none where Redis doesn't tell. */
async function findConnected(redis: RedisClient): Promise<string[]> {
  const lists = await Promise.all(
    mastersOf(redis).map(async (master) => {
      try {
        await master.client('SETNAME', MOVER);
        const [own, list] = [await master.client('ID'), String(await master.client('LIST'))];
        return list.split('\n').flatMap((line) => {
          const [, id, address, name = ''] = /^id=(\d+) addr=(\S+).* name=(\S*)/.exec(line) ?? [];
          const isOther = name === MOVER && Number(id) !== own;
          return isOther || /^herald-(?:api|worker)/.test(name) ? [`${name} at ${address ?? '?'}`] : [];
        });
      } catch (error) {
        if (error instanceof Error && /NOPERM|unknown command/i.test(error.message)) return [];
        throw error;
      }
    }),
  );
  return [...new Set(lists.flat())];
}
