import { setTimeout as wait } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { ifPermitted } from '../redis/read-info.ts';
import type { SeenProcess } from './process-presence.ts';

const LOOK_EVERY_MS = 100;

type Sign = Pick<SeenProcess, 'name' | 'sign'>;
export type Connection = { readonly id: number; readonly name: string; readonly address: string };

/** Finds processes that are alive, described for people; empty when there are none. */
export type FindAlive = () => Promise<readonly string[]>;

export type FindAliveDeps = {
  readonly findConnected: () => Promise<readonly Connection[]>;
  /** Lists the signs of processes, which also a process without a connection at the moment leaves. */
  readonly listSigns: () => Promise<readonly Sign[]>;
  /** Called before signs of processes that may be dead are watched for `forMs`. */
  readonly onWatch: (processes: number, forMs: number) => void;
  readonly goneAfterMs: number;
};

/** Finds processes by their connections and their signs. A sign that doesn't change for `goneAfterMs` belongs to a dead process. */
export function createFindAlive({ findConnected, listSigns, onWatch, goneAfterMs }: FindAliveDeps): FindAlive {
  const dead = new Set<string>();
  const signOf = ({ name, sign }: Sign) => `${name} ${sign}`;
  return async () => {
    const connected = await findConnected();
    if (connected.length > 0) return [...new Set(connected.map(({ name, address }) => `${name} at ${address}`))];
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

/** All connections to a server; none where the user may not list them. */
export async function listConnections(server: Redis): Promise<Connection[]> {
  const list = String((await ifPermitted(server.client('LIST'))) ?? '');
  return list.split('\n').flatMap((line) => {
    const [found, id, address = '?', name = ''] = /^id=(\d+) addr=(\S+).* name=(\S*)/.exec(line) ?? [];
    return found === undefined ? [] : [{ id: Number(id), name, address }];
  });
}
