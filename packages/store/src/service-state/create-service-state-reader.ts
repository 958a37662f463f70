import { createQueueStateReader, type QueueState } from '@herald/queue';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../keyspace/keys.ts';
import { defineScript } from '../scripts/script.ts';
import { readInfo } from '../redis/read-info.ts';
import type { WorkerPresence } from './worker-presence.ts';

/** How much waits in one shard, and for how long. Times are epoch ms. */
export type ShardState = {
  readonly queue: QueueState;
  readonly runningReplays: number;
};

/** What all processes share, as Redis has it. */
export type ServiceState = {
  /** When it was read. */
  readonly at: number;
  readonly shards: readonly ShardState[];
  /** Workers seen lately. */
  readonly workers: number;
  /** Of all masters together; absent when Redis doesn't tell. `limitBytes` is 0 without a limit. */
  readonly memory?: { readonly usedBytes: number; readonly limitBytes: number };
};

export type ServiceStateReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly presence: Pick<WorkerPresence, 'count'>;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Reads how the service as a whole does: for each shard one read-only script of bounded work. */
export function createServiceStateReader({ redis, keyspace, presence, now }: ServiceStateReaderDeps) {
  const define = (name: string, lua: string) => defineScript(redis, name, lua);
  const createShardReader = ({ prefix, replays }: ShardKeys) => {
    const readQueue = createQueueStateReader({ prefix, defineScript: define, now });
    return async (): Promise<ShardState> => {
      const [queue, runningReplays] = await Promise.all([readQueue(), redis.zcard(replays)]);
      return { queue, runningReplays };
    };
  };
  const shardReaders = keyspace.shards.map(createShardReader);
  return async function readServiceState(): Promise<ServiceState> {
    const at = now();
    const [shards, workers, memory] = await Promise.all([
      Promise.all(shardReaders.map((read) => read())),
      presence.count(at),
      readMemory(redis),
    ]);
    return { at, shards, workers, ...(memory && { memory }) };
  };
}

async function readMemory(redis: RedisClient): Promise<ServiceState['memory']> {
  const infos = await Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory')));
  const known = infos.filter((info) => info !== undefined);
  if (known.length < infos.length) return undefined;
  const sum = (name: string) => known.reduce((total, info) => total + Number(info.get(name) ?? 0), 0);
  return { usedBytes: sum('used_memory'), limitBytes: sum('maxmemory') };
}
