import { createQueueStateReader } from '@herald/queue';
import type { Keyspace } from '../keyspace/keys.ts';
import { readSettledBacklog } from '../backlog/settled-backlog.ts';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import { readInfo } from '../redis/read-info.ts';
import { defineScript } from '../scripts/script.ts';
import type { WorkerPresence } from './worker-presence.ts';

export type ServiceStateReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly presence: WorkerPresence;
  /** Epoch ms. */
  readonly now: () => number;
};

/**
 * Reads what all processes share, by one read-only script of bounded work for each shard. Times are epoch ms. `workers`
 * were seen lately. `memory` is that of all masters, undefined when Redis doesn't tell; `limitBytes` is 0 without a
 * limit.
 */
export function createServiceStateReader({ redis, keyspace, presence, now }: ServiceStateReaderDeps) {
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
    const [shards, workers, memory] = await Promise.all([
      Promise.all(shardReaders.map((read) => read())),
      presence.count(at),
      readMemory(redis),
    ]);
    return { at, shards, workers, memory };
  };
}
export type ServiceState = Awaited<ReturnType<ReturnType<typeof createServiceStateReader>>>;
export type ShardState = ServiceState['shards'][number];

async function readMemory(redis: RedisClient) {
  const infos = await Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory')));
  const known = infos.filter((info) => info !== undefined);
  if (known.length < infos.length) return undefined;
  const sum = (name: string) => known.reduce((total, info) => total + Number(info.get(name) ?? 0), 0);
  return { usedBytes: sum('used_memory'), limitBytes: sum('maxmemory') };
}
