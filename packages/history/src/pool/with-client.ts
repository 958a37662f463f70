import type { PoolClient } from 'pg';
import type { HistoryPool } from './create-history-pool.ts';

/**
 * Hands a connection to `work`, which alone uses it meanwhile.
 * @param isKept false: it is closed afterwards
 */
export async function withClient<T>(
  pool: HistoryPool,
  isKept: boolean,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let isSound = false;
  try {
    const result = await work(client);
    isSound = true;
    return result;
  } finally {
    client.release(!(isKept && isSound));
  }
}
