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
  // The statement under way fails with it; between two statements, the next one does.
  const ignore = () => undefined;
  client.on('error', ignore);
  let isSound = false;
  try {
    const result = await work(client);
    isSound = true;
    return result;
  } finally {
    client.off('error', ignore);
    client.release(!(isKept && isSound));
  }
}
