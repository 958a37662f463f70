import { createCounter } from '@herald/runtime/metrics/create-counter';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import { Gauge } from '@prometheus-io/client';

/**
 * Counts what moves to the history. A worker without one has no such metrics.
 * @param settledForMs RETENTION: how long a settled delivery stays in Redis before it moves
 */
export function createHistoryMetrics(registry: MetricsRegistry, settledForMs: number) {
  new Gauge({
    name: 'herald_history_retention_seconds',
    help: 'RETENTION of this worker: a delivery that has been settled for longer should have moved.',
    registers: [registry],
  }).set(settledForMs / 1_000);
  const count = (name: `herald_${string}_total`, help: string) => {
    const increase = createCounter(registry, name, help, [], [{}]);
    return (by = 1): void => {
      increase({}, by);
    };
  };
  return {
    moved: count('herald_history_moved_total', 'Settled deliveries that this worker moved to the history.'),
    failed: count('herald_history_failures_total', 'Rounds of moving that failed; Redis keeps the deliveries.'),
    migrationFailed: count(
      'herald_history_migration_failures_total',
      'Times that the schema of the history could not be brought up to date.',
    ),
    damaged: count(
      'herald_history_damaged_total',
      'Settled deliveries that could not be read, or that PostgreSQL refused; they stay in Redis.',
    ),
    /** Every scrape calls them. */
    watch(isUp: () => boolean, overdueMs: () => number): void {
      new Gauge({
        name: 'herald_history_up',
        help: 'Whether the history takes what this worker moves, of every shard; it is asked every few seconds.',
        registers: [registry],
        collect() {
          this.set(isUp() ? 1 : 0);
        },
      });
      new Gauge({
        name: 'herald_history_overdue_day_seconds',
        help: 'For how long the oldest day that should be gone from the history has been over; 0 when there is none.',
        registers: [registry],
        collect() {
          this.set(overdueMs() / 1_000);
        },
      });
    },
  };
}
export type HistoryMetrics = ReturnType<typeof createHistoryMetrics>;
