import { withClient } from '../pool/with-client.ts';
import type { HistoryPool } from '../pool/create-history-pool.ts';
import { LIST_DAYS } from '../sql/status-sql.ts';
import { findRefusal } from './history-refusal.ts';
import { lookAtHistory } from './look-at-history.ts';

/** `deliveries`: as PostgreSQL estimates them, after it has analyzed the day. */
export type HistoryDay = { readonly day: string; readonly deliveries: number; readonly bytes: number };

/**
 * The schema of the history, and its days. Changes nothing.
 * @throws HistoryRefusal, or the error of a server that is away
 */
export async function readHistoryStatus(pool: HistoryPool) {
  try {
    return await withClient(pool, true, async (client) => {
      const state = await lookAtHistory(client);
      const { rows } = await client.query<HistoryDay>(LIST_DAYS);
      return { ...state, days: rows };
    });
  } catch (error) {
    throw findRefusal(error) ?? error;
  }
}
export type HistoryStatus = Awaited<ReturnType<typeof readHistoryStatus>>;
