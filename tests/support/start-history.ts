import { createHistoryPool } from '@herald/history/pool/create-history-pool';
import { createHistoryWriter } from '@herald/history/writing/history-writer';
import { createPartitions } from '@herald/history/partitions/partitions';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { startPostgres } from '@herald/test-kit';

export type History = Awaited<ReturnType<typeof startHistory>>;

/** A history on a PostgreSQL of its own, as a worker has it. */
export async function startHistory({ keepsBodies = true } = {}) {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const pool = createHistoryPool({
    url: postgres.url,
    name: 'test',
    connections: 12,
    statementLimitMs: 5_000,
    onError: () => undefined,
  });
  cleanUp.defer(() => pool.end());
  await prepareHistory(pool, 'write');
  const partitions = createPartitions(pool);
  const writer = createHistoryWriter({ pool, partitions, keepsBodies });
  const stack = cleanUp.move();
  return {
    postgres,
    pool,
    partitions,
    writer,
    /** All rows of a query without parameters. */
    rows: async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
