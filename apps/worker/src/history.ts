import type { HistoryConfig } from '@herald/config/shared-env';
import { createAuditTable } from '@herald/history/writing/audit-table';
import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createHistoryWriter } from '@herald/history/writing/history-writer';
import { createPartitions } from '@herald/history/partitions/partitions';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { createHistoryCheck } from '@herald/history/requirements/prepare-history';
import { findRestored, type Restored } from '@herald/history/requirements/find-restored';
import { isErrorLike } from '@herald/runtime/errors';
import { type Finding, warning } from '@herald/runtime/finding';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import { createCounter, type MetricsRegistry } from '@herald/runtime/metrics';
import { historyAway, type HistoryMark } from '@herald/store/lists/history-mark';
import type { ShardRecordStore } from '@herald/store/data/shard-record';
import { Gauge } from '@prometheus-io/client';

const STATEMENT_LIMIT_MS = 20_000;
/** A replay that reads what has moved waits longer than a person does. */
const READ_LIMIT_MS = 10_000;
/** A batch for each of a few shards. */
const CONNECTIONS = 8;
const READERS = 3;
/** The part of the work that comes before each other: whether the history is there. */
const CHECK = 'check';

type OpenHistoryDeps = {
  readonly config: HistoryConfig;
  /** How long a settled delivery stays in Redis before it moves. */
  readonly settledForMs: number;
  /** Which data this is. */
  readonly dataId: string;
  readonly mark: HistoryMark;
  readonly records: Pick<ShardRecordStore, 'readHistorySeen' | 'noteHistorySeen'>;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly resources: Resources;
  /** Ends what is under way when this worker has to stop. */
  readonly cutOff: AbortSignal;
  readonly now: () => number;
};

/**
 * Connects to the history and brings its schema up to date. When it is away, or can't be used, the worker starts all the
 * same, because deliveries matter more, and looks again before it moves anything.
 */
export async function openHistory(deps: OpenHistoryDeps) {
  const { config, dataId, mark, records, logger, registry, resources, cutOff, now } = deps;
  const metrics = createHistoryMetrics(registry, deps.settledForMs);
  const state = createHistoryState({ logger, metrics, now });
  const open = (name: string, connections: number, statementLimitMs: number) => {
    // The next round of moving finds and tells a lost connection.
    const onError = () => undefined;
    const pool = createHistoryPool({ url: config.url, name, connections, statementLimitMs, onError, cutOff });
    resources.add(name, () => pool.end());
    return pool;
  };
  const pool = open('herald-worker', CONNECTIONS, STATEMENT_LIMIT_MS);
  // Apart: what a replay reads must not keep anything from moving.
  const reading = open('herald-worker-reader', READERS, READ_LIMIT_MS);
  const check = createHistoryCheck({
    pool,
    use: 'write',
    readUser: async () => ({ dataId, historyId: await mark.read() }),
    note: mark.note,
    onMigrationFailed: metrics.migrationFailed,
    onMigrated: (migrations) => {
      logger.info('history.migrated', { migrations: migrations.join(',') });
    },
  });
  metrics.watch(state.isUp, state.overdueMs);
  const partitions = createPartitions(pool);
  await check.demandUsable().catch((error: unknown) => {
    state.failed(CHECK, error);
  });
  return {
    state,
    metrics,
    partitions,
    reader: createHistoryReader({
      pool: reading,
      limitMs: READ_LIMIT_MS,
      demandUsable: check.demandUsable,
      onUnavailable: (error) => {
        state.failed('replays', error);
      },
      onAvailable: () => {
        state.worked('replays');
      },
    }),
    /**
     * Does one part of the work, and says how it went.
     * @param part such as a shard
     */
    async attempt(part: string, work: () => Promise<void>): Promise<void> {
      let doing = CHECK;
      try {
        await check.demandUsable();
        state.worked(CHECK);
        doing = part;
        await work();
        state.worked(part);
      } catch (error) {
        if (judgeHistoryError(error) === 'set-up') check.lookAgain();
        state.failed(doing, error);
      }
    },
    /** Tells of a backup that was restored, of PostgreSQL or of Redis. */
    async lookForRestored(): Promise<void> {
      const deps = { pool, readSeen: records.readHistorySeen, noteSeen: records.noteHistorySeen };
      const restored = await findRestored(deps, now());
      if (restored) state.restored(restored);
    },
    retentionMs: config.retentionMs,
    audit: createAuditTable(pool),
    writer: createHistoryWriter({ pool, partitions, keepsBodies: config.keepsBodies }),
  };
}
export type WorkerHistory = Awaited<ReturnType<typeof openHistory>>;

type HistoryStateDeps = {
  readonly logger: Logger;
  readonly metrics: Pick<HistoryMetrics, 'failed'>;
  readonly now: () => number;
};

/** A day that is still there so long after it should be gone is told: somebody reads it, or it can't be dropped. */
const OVERDUE_MS = 6 * 3_600_000;

type Failure = { readonly since: number; readonly message: string };

/**
 * Whether the history takes what moves to it. Each part of the work (a shard, the days, the replays) says it for itself: what
 * works for one may fail for another. The log tells each reason once, and when no part fails any more.
 */
export function createHistoryState({ logger, metrics, now }: HistoryStateDeps) {
  const failures = new Map<string, Failure>();
  let overdueMs = 0;
  let toldReason: string | undefined;
  let longer: { readonly ms: number; readonly wishedMs: number } | undefined;
  const since = () => Math.min(...[...failures.values()].map((failure) => failure.since));
  return {
    failed(part: string, error: unknown): void {
      metrics.failed();
      const message = isErrorLike(error) ? error.message : String(error);
      const isTold = [...failures.values()].some((failure) => failure.message === message);
      if (!isTold) logger.warn('history.unavailable', { detail: message });
      failures.set(part, { since: failures.get(part)?.since ?? now(), message });
    },
    /** Call it only when PostgreSQL has answered. */
    worked(part: string): void {
      if (!failures.has(part)) return;
      const begun = since();
      failures.delete(part);
      if (failures.size === 0) logger.info('history.recovered', { seconds: Math.round((now() - begun) / 1_000) });
    },
    /**
     * What a round of dropping days has left. Each reason is logged once.
     * @param ms for how long the oldest day that HISTORY_RETENTION has ended has been over; 0: there is none
     */
    daysStay(ms: number, error?: unknown): void {
      overdueMs = ms;
      const reason = isErrorLike(error) ? error.message : undefined;
      if (reason !== undefined && reason !== toldReason) {
        logger.warn('history.days_stay', { seconds: Math.round(ms / 1_000), detail: reason });
      }
      toldReason = reason;
    },
    /** HISTORY_RETENTION was shortened by more than half, and nobody has said that it is meant. */
    keptFor(ms: number, wishedMs: number): void {
      const kept = ms > wishedMs ? { ms, wishedMs } : undefined;
      if (kept && !longer) logger.warn('history.retention_kept', { keptMs: ms, wishedMs });
      longer = kept;
    },
    /** A backup was restored. */
    restored({ older, from, to }: Restored): void {
      const times = [from, to].map((ms) => (ms > 0 ? new Date(ms).toISOString() : undefined));
      logger.warn('history.restored', { older, from: times[0], to: times[1] });
    },
    overdueMs: () => overdueMs,
    isUp: () => failures.size === 0,
    /**
     * For the open page: it has no detail, which may name an address.
     * @param waiting settled deliveries in Redis, where that is known
     */
    problems(waiting?: number): readonly Finding[] {
      return [
        ...(failures.size > 0 ? [historyAway({ since: since(), waiting })] : []),
        ...(overdueMs > OVERDUE_MS ? [warnOfDays(overdueMs)] : []),
        ...(longer ? [warnOfRetention(longer.ms, longer.wishedMs)] : []),
      ];
    },
  };
}
export type HistoryState = ReturnType<typeof createHistoryState>;

function warnOfDays(overdueMs: number): Finding {
  const hours = Math.floor(overdueMs / 3_600_000);
  return warning(
    'history_days_stay',
    `a day that HISTORY_RETENTION ended ${hours} hours ago is still in the history, with its bodies`,
  );
}

function warnOfRetention(keptMs: number, wishedMs: number): Finding {
  const [kept, wished] = [keptMs, wishedMs].map((ms) => Math.round(ms / 86_400_000));
  return warning(
    'history_retention_kept',
    `HISTORY_RETENTION is ${wished} days and was ${kept}: days are dropped by it once "herald history retention --yes" says that it is meant`,
  );
}

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
type HistoryMetrics = ReturnType<typeof createHistoryMetrics>;
