import { setTimeout as wait } from 'node:timers/promises';
import type { SeenProcess } from './process-presence.ts';

const LOOK_EVERY_MS = 100;

/** Processes that are alive, as people are told; empty when there are none. */
export type FindAlive = () => Promise<readonly string[]>;

export type FindAliveDeps = {
  /** By their connections. */
  readonly findConnected: () => Promise<readonly string[]>;
  /** By their signs, also one whose connection is down at the moment. */
  readonly listSigns: () => Promise<readonly Pick<SeenProcess, 'name' | 'sign'>[]>;
  /** Signs of processes that may be dead are watched for so long, in ms. */
  readonly onWatch: (processes: number, forMs: number) => void;
  readonly goneAfterMs: number;
};

/** A sign that stays as it is for so long that its process has no right to the data any more is a dead one's. */
export function createFindAlive({ findConnected, listSigns, onWatch, goneAfterMs }: FindAliveDeps): FindAlive {
  const dead = new Set<string>();
  const signOf = ({ name, sign }: Pick<SeenProcess, 'name' | 'sign'>) => `${name} ${sign}`;
  return async () => {
    const connected = await findConnected();
    if (connected.length > 0) return connected;
    const first = new Set((await listSigns()).map(signOf));
    const start = performance.now();
    for (let isTold = false; ; isTold = true) {
      const seen = (await listSigns()).filter((each) => !dead.has(signOf(each)));
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
