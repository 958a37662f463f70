import { createHistoryPool, type HistoryPool } from '@herald/history/pool/create-history-pool';
import { prepareHistory } from '@herald/history/requirements/prepare-history';
import { createPartitions, DAY_MS } from '@herald/history/partitions/partitions';
import { messageOf, startPostgres } from '@herald/test-kit';
import type { Env } from '../tests/support/start-herald-process.ts';
import { createHistoryFaults, type HistoryFaults } from './history-faults.ts';
import { startLink } from './link.ts';
import { readHistoryRows, type HistoryRow } from './read-history-rows.ts';

/** A PostgreSQL of the run's own, with the schema, to which settled deliveries move. */
export type RunHistory = AsyncDisposable & {
  /** What each process gets. */
  readonly env: Env;
  readonly faults: HistoryFaults;
  readonly readRows: () => Promise<HistoryRow[]>;
  /** Drops every day that is long over, as a worker does. Returns why one stays. */
  readonly dropOldDays: () => Promise<string[]>;
};

/** How long a settled delivery stays in Redis: most of a run's deliveries move during the run. */
const RETENTION = '1s';
/** Of a slow connection, each way, in ms: pages of lists are read within their second, or just not. */
const DELAY_MS = 200;
const STATEMENT_LIMIT_MS = 30_000;
const YEAR_MS = 365 * DAY_MS;

export async function startHistory(): Promise<RunHistory> {
  await using cleanUp = new AsyncDisposableStack();
  const postgres = cleanUp.use(await startPostgres());
  const options = { name: 'chaos', connections: 3, statementLimitMs: STATEMENT_LIMIT_MS, onError: () => undefined };
  const openPool = () => createHistoryPool({ url: postgres.url, ...options });
  // An API doesn't start without it.
  await withPool(openPool(), (pool) => prepareHistory(pool, 'write'));
  const link = cleanUp.use(await startLink(postgres.port, DELAY_MS));
  const faults = cleanUp.use(createHistoryFaults(postgres, link));
  const stack = cleanUp.move();
  return {
    env: { HISTORY_URL: `postgres://postgres@127.0.0.1:${link.port}/postgres`, RETENTION },
    faults,
    readRows: () => withPool(openPool(), readHistoryRows),
    dropOldDays: () =>
      withPool(openPool(), async (pool) => {
        const { failures } = await createPartitions(pool).dropBefore(Date.now() - YEAR_MS);
        return failures.map((failure) => `an old day stays in the history: ${messageOf(failure)}`);
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function withPool<T>(pool: HistoryPool, work: (pool: HistoryPool) => Promise<T>): Promise<T> {
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
