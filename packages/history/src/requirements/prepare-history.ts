import { runMigrations } from '../migrations/run-migrations.ts';
import type { HistoryPool } from '../pool/create-history-pool.ts';
import { withClient } from '../pool/with-client.ts';
import { READ_RIGHTS } from '../sql/requirement-sql.ts';
import { findRefusal, HistoryRefusal } from './history-refusal.ts';
import { lookAtHistory } from './look-at-history.ts';

type Rights = { readonly reads: boolean; readonly writes: boolean; readonly makes_partitions: boolean };

/**
 * Makes sure that this process can use the history. `write` brings its schema up to date, `read` changes nothing.
 * @returns the names of the migrations that it ran
 * @throws HistoryRefusal with what to change, or the error of a server that is away
 */
export async function prepareHistory(pool: HistoryPool, use: 'read' | 'write'): Promise<readonly string[]> {
  try {
    // The migrations change settings of the connection.
    return await withClient(pool, false, async (client) => {
      const { missing } = await lookAtHistory(client);
      if (missing.length > 0 && use === 'read') {
        throw new HistoryRefusal('the history lacks its schema; run "herald history migrate", or start a worker');
      }
      const ran = missing.length > 0 ? await runMigrations(client) : [];
      const rights = (await client.query<Rights>(READ_RIGHTS)).rows[0];
      const isEnough = use === 'read' ? rights?.reads : rights?.reads && rights.writes && rights.makes_partitions;
      if (!isEnough) throw lackOfRights(use);
      return ran;
    });
  } catch (error) {
    throw findRefusal(error) ?? error;
  }
}

function lackOfRights(use: 'read' | 'write'): HistoryRefusal {
  const rights = use === 'read' ? 'read the tables of the schema herald' : 'write the schema herald, and must own it';
  return new HistoryRefusal(`the user of HISTORY_URL may not ${rights}`);
}
