import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { layoutOfConnection } from '../redis/layout.ts';
import { ifPermitted } from '../redis/read-info.ts';
import { createFindAlive, listConnections, type FindAlive, type FindAliveDeps } from './find-alive.ts';
import { GONE_AFTER_MS, type ProcessPresence } from './process-presence.ts';

/** The name of a connection that reshards, in former versions too. Only one process may reshard. */
export const RESHARDER = 'herald-shards-move';

export type FindRunning = FindAlive;

export type FindRunningDeps = Pick<FindAliveDeps, 'onWatch'> & {
  readonly redis: RedisClient;
  readonly presence: ProcessPresence;
  readonly goneAfterMs?: number;
};

/** Finds APIs and workers, also of earlier versions, and other processes that reshard. */
export function createFindRunning(deps: FindRunningDeps): FindRunning {
  const { redis, presence, onWatch, goneAfterMs = GONE_AFTER_MS } = deps;
  const findConnected = async () => {
    const lists = await Promise.all(
      mastersOf(redis).map(async (master) => {
        await ifPermitted(master.client('SETNAME', RESHARDER));
        const ownId = await ifPermitted(master.client('ID'));
        const connections = await listConnections(master);
        return connections.filter(({ id, name }) =>
          name === RESHARDER ? id !== ownId : layoutOfConnection(name) !== undefined,
        );
      }),
    );
    return lists.flat();
  };
  return createFindAlive({ findConnected, listSigns: presence.list, onWatch, goneAfterMs });
}
