import { z } from 'zod';
import { mastersOf, type RedisClient } from '../redis/connect-redis.ts';
import type { Keyspace, ShardKeys } from '../redis/keys.ts';
import { defineScript } from '../redis/script.ts';
import { readInfo } from '../redis/read-info.ts';
import { QUEUE_NAMES, type QueueName } from '../queues/queue-names.ts';
import type { WorkerPresence } from '../workers/worker-presence.ts';
import { READ_SHARD_STATE_LUA } from './read-shard-state-script.ts';

/** Whether a destination's backlog may go out, and if not, why. */
export const BACKLOG_STATES = ['flowing', 'breaker_open', 'on_hold'] as const;

/** How much waits in one shard, and for how long. Ages are in ms. */
export type ShardState = {
  /** Transitions and redeliveries whose jobs are owed and overdue: what a sweeper must find. */
  readonly overdueOwed: number;
  /** Transitions with pending deliveries. */
  readonly openTransitions: number;
  readonly runningReplays: number;
  /** Destinations that are not in `backlogs`, because there are too many to look at each. */
  readonly backlogsNotLookedAt: number;
  readonly queues: Readonly<Record<QueueName, QueueState>>;
  readonly backlogs: Readonly<Record<(typeof BACKLOG_STATES)[number], BacklogState>>;
};

export type QueueState = {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  /** How long the oldest job has been due; 0 when none is. */
  readonly oldestDueMs: number;
};

export type BacklogState = { readonly destinations: number; readonly deliveries: number; readonly oldestMs: number };

/** What all processes share, as Redis has it. */
export type ServiceState = {
  readonly shards: readonly ShardState[];
  /** Workers seen lately. */
  readonly workers: number;
  /** Of all masters together; absent when Redis doesn't tell. `limitBytes` is 0 without a limit. */
  readonly memory?: { readonly usedBytes: number; readonly limitBytes: number };
};

/** Backlogs looked at in one shard: more would keep Redis busy for longer than some 100 µs. */
const BACKLOG_LIMIT = 500;

const Numbers = z.array(z.number());
const Reply = z.tuple([z.number(), z.number(), z.number(), z.number(), z.array(Numbers), z.array(Numbers)]);

export type ServiceStateReaderDeps = {
  readonly redis: RedisClient;
  readonly keyspace: Keyspace;
  readonly presence: Pick<WorkerPresence, 'count'>;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Reads how the service as a whole does: one read-only script for each shard, of bounded work. */
export function createServiceStateReader({ redis, keyspace, presence, now }: ServiceStateReaderDeps) {
  const script = defineScript(redis, 'readShardState', READ_SHARD_STATE_LUA);
  const readShard = async ({ prefix, bullPrefix, backlogs, owed, open, replays }: ShardKeys, at: number) =>
    toShardState(
      await script(
        [backlogs, owed, open, replays],
        [prefix, at, BACKLOG_LIMIT, ...QUEUE_NAMES.map((name) => `${bullPrefix}:${name}`)],
      ),
    );
  return async function readServiceState(): Promise<ServiceState> {
    const at = now();
    const [shards, workers, memory] = await Promise.all([
      Promise.all(keyspace.shards.map((keys) => readShard(keys, at))),
      presence.count(at),
      readMemory(redis),
    ]);
    return { shards, workers, ...(memory && { memory }) };
  };
}

function toShardState(reply: unknown): ShardState {
  const [overdueOwed, openTransitions, runningReplays, backlogsNotLookedAt, queues, backlogs] = Reply.parse(reply);
  const byName = <Name extends string, State>(
    names: readonly Name[],
    rows: readonly (readonly number[])[],
    toState: (row: readonly number[]) => State,
  ) => Object.fromEntries(names.map((name, index) => [name, toState(rows[index] ?? [])])) as Record<Name, State>;
  return {
    ...{ overdueOwed, openTransitions, runningReplays, backlogsNotLookedAt },
    queues: byName(QUEUE_NAMES, queues, ([waiting = 0, active = 0, delayed = 0, oldest = 0]) => ({
      ...{ waiting, active, delayed, oldestDueMs: Math.max(0, oldest) },
    })),
    backlogs: byName(BACKLOG_STATES, backlogs, ([destinations = 0, deliveries = 0, oldestMs = 0]) => ({
      ...{ destinations, deliveries, oldestMs },
    })),
  };
}

async function readMemory(redis: RedisClient): Promise<ServiceState['memory']> {
  const infos = await Promise.all(mastersOf(redis).map((master) => readInfo(master, 'memory')));
  const known = infos.filter((info) => info !== undefined);
  if (known.length < infos.length) return undefined;
  const sum = (name: string) => known.reduce((total, info) => total + Number(info.get(name) ?? 0), 0);
  return { usedBytes: sum('used_memory'), limitBytes: sum('maxmemory') };
}
