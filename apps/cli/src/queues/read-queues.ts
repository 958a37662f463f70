import {
  createBacklogView,
  createFailedView,
  createLineView,
  createServiceStateReader,
  createWorkerPresence,
  QUEUE_NAMES,
  type BacklogDescription,
} from '@herald/infra';
import type { Herald } from '../open-herald.ts';

/** All that waits, as Redis has it. Times are ISO, spans in ms. */
export async function readQueues({ config, redis, keyspace, resources, now }: Herald) {
  const presence = createWorkerPresence(redis);
  const at = now();
  const [state, backlogs, failed, paused] = await Promise.all([
    createServiceStateReader({ redis, keyspace, presence, now })(),
    createBacklogView({ redis, keyspace }).list(at),
    createFailedView({ redis, keyspace, keepMs: config.retentionMs }).count(at),
    Promise.all(
      keyspace.shards.map((keys) =>
        Promise.all(
          QUEUE_NAMES.map(async (name) => {
            const line = createLineView({ redis, keys, name });
            resources.add('line', line.close);
            return [name, await line.isPaused()] as const;
          }),
        ),
      ),
    ),
  ]);
  const sum = (read: (shard: (typeof state.shards)[number]) => number) =>
    state.shards.reduce((total, shard) => total + read(shard), 0);
  return {
    workers: state.workers,
    queues: state.shards.flatMap(({ queues }, shard) =>
      QUEUE_NAMES.map((name) => ({
        ...{ shard, queue: name, ...queues[name] },
        isPaused: paused[shard]?.some(([each, isPaused]) => each === name && isPaused) ?? false,
      })),
    ),
    backlogs: backlogs.map(toBacklogJson),
    backlogDestinations: backlogs.length + sum((shard) => shard.backlogsNotLookedAt),
    backlogDeliveries: backlogs.reduce((total, { count }) => total + count, 0),
    openTransitions: sum((shard) => shard.openTransitions),
    overdueOwed: sum((shard) => shard.overdueOwed),
    runningReplays: sum((shard) => shard.runningReplays),
    failedLately: failed,
  };
}
export type Queues = Awaited<ReturnType<typeof readQueues>>;
export type QueueLine = Queues['queues'][number];
export type BacklogLine = Queues['backlogs'][number];

function toBacklogJson({ first, count, isOpen, unanswered, nextProbeAt, holdUntil, waitsSince }: BacklogDescription) {
  return {
    workspace: first?.delivery.workspaceId ?? null,
    host: first?.host ?? null,
    deliveries: count,
    state: isOpen ? ('breaker_open' as const) : holdUntil === undefined ? ('flowing' as const) : ('on_hold' as const),
    unanswered,
    nextProbeAt: toIso(nextProbeAt),
    holdUntil: toIso(holdUntil),
    waitsSince: toIso(waitsSince),
  };
}

function toIso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
