import { GROUP_HEALTHS } from '@herald/queue';
import { Gauge } from '@prometheus-io/client';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { ServiceState, ShardState } from './create-service-state-reader.ts';

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
