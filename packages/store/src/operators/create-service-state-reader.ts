import { createQueueStateReader } from '@herald/queue';
import { readSettledBacklog } from '../lists/history-mark.ts';
import { GLOBAL_KEYS, type Keyspace } from '../keys/keys.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { readMemory } from '../redis/read-info.ts';
import { createShow, defineScript } from '../redis/script.ts';
import { createStatsReader, timeToEmpty, toServiceRates } from '../stats/stats-reader.ts';
import { createWorkspaceAccounts } from '../stats/workspace-accounts.ts';

type ServiceStateReaderDeps = {
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

/** A worker that was not seen for so long counts as gone, in ms. */
const GONE_AFTER_MS = 15_000;
/** How often a worker shows itself, in ms. */
export const PRESENCE_INTERVAL_MS = 4_000;
/** The name of the connections on which workers wait for jobs: one for each shard that a worker serves. */
export const WAIT_CONNECTION = 'herald-worker-wait';

/** Records when workers were seen, in epoch ms. A hint for people and the test operation: no delivery depends on it. */
export function createWorkerPresence(redis: RedisClient) {
  const show = createShow(redis);
  return {
    show: (workerId: string, now: number) => show(GLOBAL_KEYS.workers, workerId, now, 20 * GONE_AFTER_MS),
    async leave(workerId: string): Promise<void> {
      await redis.zrem(GLOBAL_KEYS.workers, workerId);
    },
    count: (now: number) => redis.zcount(GLOBAL_KEYS.workers, now - GONE_AFTER_MS, '+inf'),
  };
}
type WorkerPresence = ReturnType<typeof createWorkerPresence>;

/** How long the rate looks back, and how far apart samples must be, in ms. */
const SPAN_MS = 600_000;
const APART_MS = 10_000;
/** A rate over less says nothing, in ms. */
const SHORTEST_MS = 30_000;

type Sample = { readonly at: number; readonly usedBytes: number };

/** How fast Redis' memory grows, from the looks of this process at it. */
export function createMemoryTrend() {
  let samples: Sample[] = [];
  /** Bytes a second; undefined until it has looked for a while. @param at epoch ms */
  return function noteMemory(at: number, usedBytes: number): number | undefined {
    samples = samples.filter((sample) => sample.at > at - SPAN_MS);
    const [first] = samples;
    const last = samples.at(-1);
    if (!last || at - last.at >= APART_MS) samples.push({ at, usedBytes });
    if (!first || at - first.at < SHORTEST_MS) return undefined;
    return ((usedBytes - first.usedBytes) / (at - first.at)) * 1_000;
  };
}
