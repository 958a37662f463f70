import { Gauge } from 'prom-client';
import { BACKLOG_STATES, type ServiceState, type ShardState } from '../service-state/create-service-state-reader.ts';
import { QUEUE_NAMES } from '../queues/queue-names.ts';
import type { MetricsRegistry } from './create-metrics-registry.ts';

/**
 * Gauges of what all processes share. Every process shows the same numbers, so they are aggregated by `max`, never by `sum`.
 * @returns what shows a state; undefined: it could not be read, and nothing is shown that might be out of date
 */
export function addServiceGauges(registry: MetricsRegistry): (state: ServiceState | undefined) => void {
  const gauge = <Label extends string>(name: `herald_${string}`, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name, help: `${help} Of the whole service: aggregate by max.`, labelNames, registers: [registry] });
  const known = gauge('herald_service_state_known', 'Whether the gauges of the whole service could be read.', []);
  const totals = {
    workers: gauge('herald_workers', 'Workers seen lately.', []),
    usedBytes: gauge('herald_redis_memory_used_bytes', 'Memory that Redis uses.', []),
    limitBytes: gauge('herald_redis_memory_limit_bytes', 'Memory that Redis may use; 0 without a limit.', []),
  };
  const perShard = {
    jobs: gauge('herald_queue_jobs', 'Jobs in BullMQ, by state.', ['shard', 'queue', 'state']),
    oldestDue: gauge('herald_queue_oldest_due_seconds', 'How long the oldest due job has been due.', [
      'shard',
      'queue',
    ]),
    deliveries: gauge('herald_backlog_deliveries', 'Deliveries that wait for their destination.', ['shard', 'state']),
    destinations: gauge('herald_backlog_destinations', 'Destinations with a backlog.', ['shard', 'state']),
    oldest: gauge('herald_backlog_oldest_seconds', 'How long the first of a backlog has waited.', ['shard', 'state']),
    owed: gauge('herald_owed_overdue', 'Transitions and redeliveries whose jobs are owed and overdue.', ['shard']),
    open: gauge('herald_open_transitions', 'Transitions with pending deliveries.', ['shard']),
    replays: gauge('herald_replays_running', 'Replays under way.', ['shard']),
  };
  const showShard = ({ queues, backlogs, ...counts }: ShardState, shard: string) => {
    for (const queue of QUEUE_NAMES) {
      const { waiting, active, delayed, oldestDueMs } = queues[queue];
      for (const [state, count] of Object.entries({ waiting, active, delayed })) {
        perShard.jobs.set({ shard, queue, state }, count);
      }
      perShard.oldestDue.set({ shard, queue }, oldestDueMs / 1_000);
    }
    for (const state of BACKLOG_STATES) {
      const { destinations, deliveries, oldestMs } = backlogs[state];
      perShard.destinations.set({ shard, state }, destinations);
      perShard.deliveries.set({ shard, state }, deliveries);
      perShard.oldest.set({ shard, state }, oldestMs / 1_000);
    }
    perShard.destinations.set({ shard, state: 'not_looked_at' }, counts.backlogsNotLookedAt);
    perShard.owed.set({ shard }, counts.overdueOwed);
    perShard.open.set({ shard }, counts.openTransitions);
    perShard.replays.set({ shard }, counts.runningReplays);
  };
  return (state) => {
    known.set(state ? 1 : 0);
    for (const each of Object.values(totals)) each.remove();
    for (const each of Object.values(perShard)) each.reset();
    if (!state) return;
    for (const [shard, shardState] of state.shards.entries()) showShard(shardState, String(shard));
    totals.workers.set(state.workers);
    if (!state.memory) return;
    totals.usedBytes.set(state.memory.usedBytes);
    totals.limitBytes.set(state.memory.limitBytes);
  };
}
