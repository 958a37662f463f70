import { GLOBAL_KEYS } from '../keyspace/keys.ts';
import { readScoredIds } from '../keyspace/scored-ids.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { LAYOUT, layoutOfConnection } from '../redis/layout.ts';
import { createFindAlive, listConnections, type FindAlive, type FindAliveDeps } from '../shards/find-alive.ts';
import { RESHARDER } from '../shards/find-running.ts';
import { GONE_AFTER_MS, type ProcessPresence } from '../shards/process-presence.ts';

export type FindFormerProcessesDeps = Pick<FindAliveDeps, 'onWatch'> & {
  readonly redis: RedisClient;
  readonly presence: ProcessPresence;
  /** No process of this version has worked on the data yet: every process that shows itself as a worker is of a former one. */
  readonly isFirst: boolean;
};

/**
 * Finds APIs and workers of former versions, and processes that reshard. Release 0.1.0 shows itself by its connections. Only its
 * workers leave signs.
 */
export function createFindFormerProcesses({ redis, presence, isFirst, onWatch }: FindFormerProcessesDeps): FindAlive {
  const isFormer = (name: string) => name === RESHARDER || (layoutOfConnection(name) ?? LAYOUT) < LAYOUT;
  return createFindAlive({
    async findConnected() {
      const all = await Promise.all(mastersOf(redis).map(listConnections));
      return all.flat().filter(({ name }) => isFormer(name));
    },
    async listSigns() {
      const processes = (await presence.list()).filter(({ layout }) => layout < LAYOUT);
      return isFirst ? [...processes, ...(await listWorkers(redis))] : processes;
    },
    onWatch,
    goneAfterMs: GONE_AFTER_MS,
  });
}

async function listWorkers(redis: RedisClient) {
  const rows = readScoredIds(await redis.zrange(GLOBAL_KEYS.workers, 0, '-1', 'WITHSCORES'));
  return rows.map(({ id, score }) => ({ name: `worker:${id}`, sign: score }));
}
