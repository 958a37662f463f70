import { createQueueStateReader } from '@herald/queue';
import type { Keyspace } from '../keys/keys.ts';
import { readSettledBacklog } from '../backlog/settled-backlog.ts';
import { createWorkspaceAccounts } from '../memory/workspace-accounts.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readMemory } from '../redis/read-info.ts';
import { defineScript } from '../redis/script.ts';
import { timeToEmpty, toServiceRates } from '../stats/service-rates.ts';
import { createStatsReader } from '../stats/stats-reader.ts';
import type { WorkerPresence } from './worker-presence.ts';

export type ServiceStateReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly presence: WorkerPresence;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Workspaces of which the numbers are shown: each is a label of its own. */
const SHOWN_WORKSPACES = 10;

/**
 * Reads what all processes share, by scripts of bounded work for each shard. Times are epoch ms. `workers`
 * were seen lately. `memory` is that of all masters, undefined when Redis doesn't tell; `limitBytes` is 0 without a
 * limit. `workspaces` are those that hold the most. `emptyInMs` is when what is due will be sent at these `rates`; undefined:
 * never.
 */
export function createServiceStateReader({ redis, keyspace, presence, now }: ServiceStateReaderDeps) {
  const accounts = createWorkspaceAccounts({ redis, keyspace, now });
  const stats = createStatsReader({ redis, keyspace, now });
  const shardReaders = keyspace.shards.map((keys) => {
    const { prefix, replays } = keys;
    const readQueue = createQueueStateReader({ prefix, defineScript: (_name, lua) => defineScript(redis, lua), now });
    return async () => {
      const [queue, runningReplays, settled] = await Promise.all([
        readQueue(),
        redis.zcard(replays),
        readSettledBacklog(redis, keys),
      ]);
      return { queue, runningReplays, settled };
    };
  });
  return async function readServiceState() {
    const at = now();
    const [shards, workers, memory, workspaces, minutes] = await Promise.all([
      Promise.all(shardReaders.map((read) => read())),
      presence.count(at),
      sumMemory(redis),
      accounts.largest(SHOWN_WORKSPACES),
      stats.ofService('1h'),
    ]);
    const rates = toServiceRates(minutes, at);
    const due = shards.reduce((sum, { queue }) => sum + queue.waiting + queue.active, 0);
    return { at, shards, workers, memory, workspaces, rates, emptyInMs: timeToEmpty(due, rates) };
  };
}
export type ServiceState = Awaited<ReturnType<ReturnType<typeof createServiceStateReader>>>;
export type ShardState = ServiceState['shards'][number];

/** Of all masters together; undefined where one doesn't tell. */
async function sumMemory(redis: RedisClient) {
  const masters = await readMemory(redis);
  const known = masters.filter((master) => master !== undefined);
  if (known.length < masters.length) return undefined;
  const sum = (name: 'usedBytes' | 'limitBytes') => known.reduce((total, master) => total + master[name], 0);
  return { usedBytes: sum('usedBytes'), limitBytes: sum('limitBytes') };
}
