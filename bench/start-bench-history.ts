import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { startPostgres, type RunningPostgres } from '@herald/test-kit';

export type BenchHistory = AsyncDisposable & { readonly postgres: RunningPostgres; readonly pool: HistoryPool };

/** A PostgreSQL as production should have it: with fsync, and the schema in it. */
export async function startBenchHistory(): Promise<BenchHistory> {
  const postgres = await startPostgres({ fsync: true, settings: { shared_buffers: '256MB' } });
  const pool = createHistoryPool({
    url: postgres.url,
    name: 'bench',
    connections: 4,
    statementLimitMs: 3_600_000,
    onError: () => undefined,
  });
  await prepareHistory(pool, 'write');
  return {
    postgres,
    pool,
    async [Symbol.asyncDispose]() {
      await pool.end();
      await postgres.close();
    },
  };
}
