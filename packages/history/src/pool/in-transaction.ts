import type { PoolClient } from 'pg';
import type { HistoryPool } from './create-history-pool.ts';
import { withClient } from './with-client.ts';

/** Does it in a transaction of its own. After an error the connection is closed, which rolls back. */
export async function inTransaction<T>(pool: HistoryPool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return await withClient(pool, true, async (client) => {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}
