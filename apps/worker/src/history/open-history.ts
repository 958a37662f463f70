import { ConfigError } from '@herald/runtime/env/env';
import { createAuditTable } from '@herald/history/audit/audit-table';
import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryWriter } from '@herald/history/moving/history-writer';
import { createPartitions } from '@herald/history/partitions/partitions';
import { createHistoryReader } from '@herald/history/reading/create-history-reader';
import { HistoryRefusal } from '@herald/history/requirements/history-refusal';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import type { HistoryConfig } from '@herald/config/history-env';
import type { Logger } from '@herald/runtime/log/logger';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import { createHistoryMetrics } from './create-history-metrics.ts';
import { createHistoryState } from './history-state.ts';

/** A batch of 200 takes some 10 ms. */
const STATEMENT_LIMIT_MS = 20_000;
/** A replay that reads what has moved waits longer than a person does. */
const READ_LIMIT_MS = 10_000;
/** Two for each of a few shards: a batch, and the partition that it needs. */
const CONNECTIONS = 8;

export type OpenHistoryDeps = {
  readonly config: HistoryConfig;
  /** How long a settled delivery stays in Redis before it moves. */
  readonly settledForMs: number;
  readonly logger: Logger;
  readonly registry: MetricsRegistry;
  readonly resources: Resources;
  /** Ends what is under way when this worker has to stop. */
  readonly cutOff: AbortSignal;
  readonly now: () => number;
};

/**
 * Connects to the history and brings its schema up to date. When it is away the worker starts all the same, because
 * deliveries matter more, and looks again before it moves anything.
 * @throws ConfigError when it is none that this release can use
 */
export async function openHistory(deps: OpenHistoryDeps) {
  const { config, logger, registry, resources, cutOff, now } = deps;
  const metrics = createHistoryMetrics(registry, deps.settledForMs);
  const state = createHistoryState({ logger, metrics, now });
  const pool = createHistoryPool({
    url: config.url,
    name: 'herald-worker',
    connections: CONNECTIONS,
    statementLimitMs: STATEMENT_LIMIT_MS,
    // The next round of moving finds and tells it.
    onError: () => undefined,
    cutOff,
  });
  resources.add('history', () => pool.end());
  metrics.watch(() => state.problem() === undefined);
  const partitions = createPartitions(pool);
  let isPrepared = false;
  /** Once for each process: the schema is that of this release as long as it runs. */
  const prepare = async (): Promise<void> => {
    if (isPrepared) return;
    const ran = await prepareHistory(pool, 'write');
    if (ran.length > 0) logger.info('history.migrated', { migrations: ran.join(',') });
    isPrepared = true;
  };
  try {
    await prepare();
  } catch (error) {
    if (error instanceof HistoryRefusal) throw new ConfigError(error.message);
    state.failed(error);
  }
  return {
    state,
    metrics,
    partitions,
    reader: createHistoryReader({
      pool,
      limitMs: READ_LIMIT_MS,
      onUnavailable: (error) => {
        state.failed(error);
      },
    }),
    prepare,
    retentionMs: config.retentionMs,
    audit: createAuditTable(pool),
    writer: createHistoryWriter({ pool, partitions, keepsBodies: config.keepsBodies }),
  };
}
export type WorkerHistory = Awaited<ReturnType<typeof openHistory>>;
