import type { Redis } from 'ioredis';
import { setTimeout as wait } from 'node:timers/promises';
import { GLOBAL_KEYS, readScoredIds } from '../keys/keys.ts';
import { LAYOUT, layoutOfConnection } from '../keys/layout.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { ifPermitted } from '../redis/read-info.ts';
import { createShow } from '../redis/script.ts';

/** The name of a connection that reshards, in former versions too. Only one process may reshard. */
const RESHARDER = 'herald-shards-move';
const LOOK_EVERY_MS = 100;

/** Finds processes that are alive, described for people; empty when there are none. */
export type FindRunning = () => Promise<readonly string[]>;

type FindRunningDeps = {
  readonly redis: RedisClient;
  readonly presence: ProcessPresence;
  /** Called before signs of processes that may be dead are watched for `forMs`. */
  readonly onWatch: (processes: number, forMs: number) => void;
  readonly goneAfterMs?: number;
};

type Sign = Pick<SeenProcess, 'name' | 'sign'>;
type Connection = { readonly id: number; readonly name: string; readonly address: string };

/** Finds APIs and workers, also of earlier versions, and other processes that reshard. */
export function createFindRunning(deps: FindRunningDeps): FindRunning {
  const findConnected = async (master: Redis) => {
    await ifPermitted(master.client('SETNAME', RESHARDER));
    const ownId = await ifPermitted(master.client('ID'));
    const connections = await listConnections(master);
    return connections.filter(({ id, name }) => (name === RESHARDER ? id !== ownId : layoutOfConnection(name)));
  };
  return createFindAlive(deps, findConnected, () => deps.presence.list());
}

/** Finds APIs and workers of former versions, and processes that reshard. */
export function createFindFormer(deps: FindRunningDeps): FindRunning {
  const isFormer = (name: string) => name === RESHARDER || (layoutOfConnection(name) ?? LAYOUT) < LAYOUT;
  const findConnected = async (master: Redis) => (await listConnections(master)).filter(({ name }) => isFormer(name));
  const listSigns = async () => (await deps.presence.list()).filter(({ layout }) => layout < LAYOUT);
  return createFindAlive(deps, findConnected, listSigns);
}

/**
 * Finds processes by their connections, and by their signs, which a process also leaves that has no connection at the
 * moment. A sign that doesn't change for `goneAfterMs` belongs to a dead process.
 */
function createFindAlive(
  { redis, onWatch, goneAfterMs = GONE_AFTER_MS }: FindRunningDeps,
  findConnected: (master: Redis) => Promise<Connection[]>,
  listSigns: () => Promise<readonly Sign[]>,
): FindRunning {
  const dead = new Set<string>();
  const signOf = ({ name, sign }: Sign) => `${name} ${sign}`;
  return async () => {
    const connected = (await Promise.all(mastersOf(redis).map(findConnected))).flat();
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
async function listConnections(server: Redis): Promise<Connection[]> {
  const list = (await ifPermitted(server.client('LIST').then(String))) ?? '';
  return list.split('\n').flatMap((line) => {
    const [found, id, address = '?', name = ''] = /^id=(\d+) addr=(\S+).* name=(\S*)/.exec(line) ?? [];
    return found === undefined ? [] : [{ id: Number(id), name, address }];
  });
}

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
