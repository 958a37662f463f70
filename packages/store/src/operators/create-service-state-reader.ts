import { createQueueStateReader, GROUP_HEALTHS } from '@herald/queue';
import { answerWithin, rememberFor } from '@herald/runtime/async';
import type { MetricsRegistry } from '@herald/runtime/metrics';
import { Gauge } from '@prometheus-io/client';
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
type ShardState = ServiceState['shards'][number];

/** Of all masters together; undefined where one doesn't tell. */
async function sumMemory(redis: RedisClient) {
  const masters = await readMemory(redis);
  const known = masters.filter((master) => master !== undefined);
  if (known.length < masters.length) return undefined;
  const sum = (name: 'usedBytes' | 'limitBytes') => known.reduce((total, master) => total + master[name], 0);
  return { usedBytes: sum('usedBytes'), limitBytes: sum('limitBytes') };
}

/** The label of the one queue that a shard has. */
const QUEUE = 'deliveries';

/**
 * Adds the gauges of what all processes share. Every process shows the same numbers: aggregate by `max`, never by
 * `sum`.
 * @returns a function that shows a state, and nothing out of date when it couldn't be read (undefined)
 */
export function addServiceGauges(registry: MetricsRegistry): (state: ServiceState | undefined) => void {
  const gauge = <Label extends string>(name: `herald_${string}`, help: string, ...labelNames: readonly Label[]) =>
    new Gauge({ name, help: `${help} Of the whole service: aggregate by max.`, labelNames, registers: [registry] });
  const known = gauge('herald_service_state_known', 'Whether the gauges of the whole service could be read.');
  const totals = {
    workers: gauge('herald_workers', 'Workers seen lately.'),
    usedBytes: gauge('herald_redis_memory_used_bytes', 'Memory that Redis uses.'),
    emptyIn: gauge(
      'herald_queue_empty_in_seconds',
      'When what is due will be sent, at the rate of the last minute or two; +Inf: never, as much comes as goes.',
    ),
    limitBytes: gauge('herald_redis_memory_limit_bytes', 'Memory that Redis may use; 0 without a limit.'),
  };
  const perShard = {
    jobs: gauge('herald_queue_jobs', 'Deliveries in the queue, by state.', 'shard', 'queue', 'state'),
    oldestDue: gauge(
      'herald_queue_oldest_due_seconds',
      'For how long the first delivery has waited that only waits for a worker.',
      'shard',
      'queue',
    ),
    receivers: gauge(
      'herald_waiting_receivers',
      'Receivers with waiting deliveries; callbacks of a workspace to one origin count as one. State stopped: an operator has paused it.',
      'shard',
      'state',
    ),
    deliveries: gauge('herald_receiver_due_deliveries', 'Deliveries that are due, and wait.', 'shard', 'state'),
    oldest: gauge(
      'herald_receiver_oldest_due_seconds',
      'For how long the oldest of these has been due.',
      'shard',
      'state',
    ),
    replays: gauge('herald_replays_running', 'Replays under way.', 'shard'),
    settled: gauge(
      'herald_history_waiting_deliveries',
      'Settled deliveries that Redis keeps for the history.',
      'shard',
    ),
    setAside: gauge(
      'herald_history_set_aside_deliveries',
      'Those of them that could not be moved, and are tried again each hour.',
      'shard',
    ),
    oldestSettled: gauge(
      'herald_history_oldest_waiting_seconds',
      'For how long the first of these has been settled. Usually it is RETENTION.',
      'shard',
    ),
  };
  const perWorkspace = {
    pending: gauge(
      'herald_workspace_pending_deliveries',
      'Pending deliveries of the ten workspaces that hold the most.',
      'workspace',
    ),
    bytes: gauge(
      'herald_workspace_held_bytes',
      'Roughly what the Tasks, facts and bodies of these take in Redis.',
      'workspace',
    ),
  };
  const showShard = ({ queue, runningReplays, settled }: ShardState, shard: string, at: number) => {
    const secondsSince = (time = at) => Math.max(0, at - time) / 1_000;
    for (const state of ['waiting', 'active', 'delayed'] as const) {
      perShard.jobs.set({ shard, queue: QUEUE, state }, queue[state]);
    }
    perShard.oldestDue.set({ shard, queue: QUEUE }, secondsSince(queue.oldestDueAt));
    for (const state of GROUP_HEALTHS) {
      const { groups, due, oldestDueAt } = queue.byHealth[state];
      perShard.receivers.set({ shard, state }, groups);
      perShard.deliveries.set({ shard, state }, due);
      perShard.oldest.set({ shard, state }, secondsSince(oldestDueAt));
    }
    perShard.receivers.set({ shard, state: 'not_looked_at' }, queue.groupsNotLookedAt);
    perShard.replays.set({ shard }, runningReplays);
    perShard.settled.set({ shard }, settled.count);
    perShard.setAside.set({ shard }, settled.aside);
    perShard.oldestSettled.set({ shard }, secondsSince(settled.oldestAt));
  };
  return (state) => {
    known.set(state ? 1 : 0);
    for (const each of Object.values(totals)) each.remove();
    for (const each of [...Object.values(perShard), ...Object.values(perWorkspace)]) each.reset();
    if (!state) return;
    for (const [shard, shardState] of state.shards.entries()) showShard(shardState, String(shard), state.at);
    totals.workers.set(state.workers);
    totals.emptyIn.set(state.emptyInMs === undefined ? Infinity : state.emptyInMs / 1_000);
    for (const { workspaceId: workspace, pending, bytes } of state.workspaces) {
      perWorkspace.pending.set({ workspace }, pending);
      perWorkspace.bytes.set({ workspace }, bytes);
    }
    if (!state.memory) return;
    totals.usedBytes.set(state.memory.usedBytes);
    totals.limitBytes.set(state.memory.limitBytes);
  };
}

/** However many scrapes come, Redis is asked at most once in this time, in ms. */
const REMEMBERED_MS = 1_000;
/** A scrape waits at most this long for Redis, in ms. */
const STATE_LIMIT_MS = 1_500;

/** Renders the answer to a scrape, in Prometheus' text format. */
export function createExposition(registry: MetricsRegistry, readServiceState: () => Promise<ServiceState>) {
  const show = addServiceGauges(registry);
  // The log and the readiness of the process tell that Redis is away.
  const read = rememberFor(REMEMBERED_MS, () => {
    const state: Promise<ServiceState | undefined> = readServiceState().catch(() => undefined);
    return answerWithin(STATE_LIMIT_MS, state, () => undefined);
  });
  return {
    contentType: registry.contentType as string,
    render: async (): Promise<string> => {
      show(await read());
      return await registry.metrics();
    },
  };
}
export type Exposition = ReturnType<typeof createExposition>;

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
