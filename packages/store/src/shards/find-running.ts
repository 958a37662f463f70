import type { Redis } from 'ioredis';
import type { RedisClient } from '../redis/connect-redis.ts';
import { mastersOf } from '../redis/connect-redis.ts';
import { layoutOfConnection } from '../redis/layout.ts';
import { createFindAlive, type FindAlive, type FindAliveDeps } from './find-alive.ts';
import { listConnections, type Connection } from './list-connections.ts';
import { GONE_AFTER_MS, type ProcessPresence } from './process-presence.ts';

/** What a connection that reshards calls itself, in former versions too: there may be but one. */
export const RESHARDER = 'herald-shards-move';

/** Who else works on this Redis, as people are told; empty when nobody does. */
export type FindRunning = FindAlive;

export type FindRunningDeps = Pick<FindAliveDeps, 'onWatch'> & {
  readonly redis: RedisClient;
  readonly presence: Pick<ProcessPresence, 'list'>;
  readonly goneAfterMs?: number;
};

/** Finds APIs and workers, those of earlier versions too, and others that reshard. */
export function createFindRunning({
  redis,
  presence,
  onWatch,
  goneAfterMs = GONE_AFTER_MS,
}: FindRunningDeps): FindRunning {
  return createFindAlive({
    findConnected: () => findConnected(redis),
    listSigns: () => presence.list(),
    onWatch,
    goneAfterMs,
  });
}

async function findConnected(redis: RedisClient): Promise<string[]> {
  const lists = await Promise.all(
    mastersOf(redis).map(async (master) => {
      const own = await showAsResharder(master);
      const isOther = ({ id, name }: Connection) => name === RESHARDER && id !== own;
      return (await listConnections(master)).filter((each) => isOther(each) || layoutOfConnection(each.name));
    }),
  );
  return describeConnections(lists.flat());
}

export function describeConnections(connections: readonly Connection[]): string[] {
  return [...new Set(connections.map(({ name, address }) => `${name} at ${address}`))];
}

/** @returns the id of this connection; undefined where Redis doesn't tell */
async function showAsResharder(master: Redis): Promise<number | undefined> {
  try {
    await master.client('SETNAME', RESHARDER);
    return await master.client('ID');
  } catch (error) {
    if (error instanceof Error && /NOPERM|unknown command/i.test(error.message)) return undefined;
    throw error;
  }
}
