import type { HistoryConfig } from '@herald/config/shared-env';
import { createAuditTable } from '@herald/history/writing/audit-table';
import { judgeHistoryError } from '@herald/history/errors/history-errors';
import { createHistoryWriter } from '@herald/history/writing/history-writer';
import { createPartitions } from '@herald/history/partitions/partitions';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { createHistoryCheck } from '@herald/history/requirements/prepare-history';
import { findRestored } from '@herald/history/requirements/find-restored';
import type { Logger } from '@herald/runtime/log/logger';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { HistoryMark } from '@herald/store/lists/history-mark';
import type { ShardRecordStore } from '@herald/store/data/shard-record';
import { createHistoryMetrics } from './create-history-metrics.ts';
import { createHistoryState } from './history-state.ts';

const STATEMENT_LIMIT_MS = 20_000;
/** A replay that reads what has moved waits longer than a person does. */
const READ_LIMIT_MS = 10_000;
/** A batch for each of a few shards. */
const CONNECTIONS = 8;
const READERS = 3;
/** The part of the work that comes before each other: whether the history is there. */
const CHECK = 'check';

export type OpenHistoryDeps = {
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
