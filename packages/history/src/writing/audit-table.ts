import { inTransaction, type HistoryPool } from '../pool/create-history-pool.ts';
import { DELETE_AUDIT, INSERT_AUDIT } from '../sql/history-sql.ts';

/** An entry of the audit trail: what it is found by. The rest of it is kept as it is. */
type HistoryAuditEntry = { readonly id: string; readonly by: string; readonly workspaceId?: string };

/** Rows that are deleted together. */
const DELETED_AT_ONCE = 1_000;
const LIMITS = { statementMs: 20_000 };

/** Writes the audit trail, and deletes what is too old. */
export function createAuditTable(pool: HistoryPool) {
  const run = async (text: string, values: unknown[]): Promise<number> =>
    (await inTransaction(pool, LIMITS, (client) => client.query(text, values))).rowCount ?? 0;
  return {
    /** Once this resolves, they are durable. Writing them once more changes nothing. */
    async write(entries: readonly HistoryAuditEntry[]): Promise<void> {
      await run(INSERT_AUDIT, [
        entries.map(({ id }) => id),
        entries.map(({ by }) => by),
        entries.map(({ workspaceId }) => workspaceId),
        entries.map((entry) => JSON.stringify(entry)),
      ]);
    },
    /** Deletes what was done before then (epoch ms). Returns how many entries. */
    async deleteBefore(timeMs: number, isStopping: () => boolean = () => false): Promise<number> {
      let total = 0;
      while (!isStopping()) {
        const count = await run(DELETE_AUDIT, [String(timeMs), DELETED_AT_ONCE]);
        total += count;
        if (count < DELETED_AT_ONCE) break;
      }
      return total;
    },
  };
}
export type AuditTable = ReturnType<typeof createAuditTable>;
