import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { LAYOUT, layoutOfConnection } from '../redis/layout.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { createFindAlive, type FindAlive, type FindAliveDeps } from '../shards/find-alive.ts';
import { describeConnections, RESHARDER } from '../shards/find-running.ts';
import { listConnections } from '../shards/list-connections.ts';
import { GONE_AFTER_MS, type ProcessPresence } from '../shards/process-presence.ts';

export type FindFormerProcessesDeps = Pick<FindAliveDeps, 'onWatch'> & {
  readonly redis: RedisClient;
  readonly presence: Pick<ProcessPresence, 'list'>;
  /** Nobody of this version has worked on the data yet: whoever shows itself as a worker is of a former one. */
  readonly isFirst: boolean;
  readonly goneAfterMs?: number;
};

/**
 * Finds APIs and workers of former versions, and processes that reshard. Release 0.1.0 shows itself by its connections,
 * and of it workers alone by signs.
 */
export function createFindFormerProcesses(deps: FindFormerProcessesDeps): FindAlive {
  const { redis, presence, isFirst, onWatch, goneAfterMs = GONE_AFTER_MS } = deps;
  return createFindAlive({
    async findConnected() {
      const all = await Promise.all(mastersOf(redis).map(listConnections));
      const isFormer = (name: string) => name === RESHARDER || (layoutOfConnection(name) ?? LAYOUT) < LAYOUT;
      return describeConnections(all.flat().filter(({ name }) => isFormer(name)));
    },
    async listSigns() {
      const processes = (await presence.list()).filter(({ layout }) => layout < LAYOUT);
      return isFirst ? [...processes, ...(await listWorkers(redis))] : processes;
    },
    onWatch,
    goneAfterMs,
  });
}

async function listWorkers(redis: RedisClient) {
  const rows = readScoredIds(await redis.zrange(GLOBAL_KEYS.workers, 0, '-1', 'WITHSCORES'));
  return rows.map(({ id, score }) => ({ name: `worker:${id}`, sign: score }));
}
