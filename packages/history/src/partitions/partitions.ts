import type { HistoryPool } from '../pool/create-history-pool.ts';
import {
  createPartition,
  detachPartition,
  dropPartition,
  finishDetaching,
  LIST_DETACHED,
  LIST_PARTITIONS,
  LOCK_FOR_PARTITIONS,
} from '../sql/partition-sql.ts';
import { inTransaction } from '../pool/in-transaction.ts';
import { dayOf, dayOfPartition, HISTORY_TABLES, partitionName, type HistoryTable } from '../days/days.ts';

/** Days that are made ahead: PostgreSQL may refuse new tables for so long before anything waits. */
const DAYS_AHEAD = 3;

type Partition = { readonly name: string; readonly is_detaching: boolean };

/** Makes and drops the partitions of days. */
export function createPartitions(pool: HistoryPool) {
  const list = async (table: HistoryTable) => (await pool.query<Partition>(LIST_PARTITIONS, [table])).rows;
  const known = new Set<number>();

  /** Makes those of these days that are missing. */
  const ensure = async (days: readonly number[]): Promise<void> => {
    const unknown = [...new Set(days)].filter((day) => !known.has(day));
    if (unknown.length === 0) return;
    await inTransaction(pool, async (client) => {
      await client.query(LOCK_FOR_PARTITIONS);
      for (const table of HISTORY_TABLES) {
        const { rows } = await client.query<Partition>(LIST_PARTITIONS, [table]);
        const present = new Set(rows.map(({ name }) => name));
        for (const day of unknown) {
          const name = partitionName(table, day);
          if (!present.has(name)) await client.query(`${dropPartition(name)};\n${createPartition(table, day)}`);
        }
      }
    });
    for (const day of unknown) known.add(day);
  };

  return {
    ensure,
    /** Takes nothing for known any more. */
    lookAgain: () => {
      known.clear();
    },
    ensureAhead: (nowMs: number) => ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => dayOf(nowMs) + index)),
    /** Drops every day that ended before then. Returns the names of the partitions that are gone. */
    async dropBefore(timeMs: number): Promise<readonly string[]> {
      const isOld = (name: string) => (dayOfPartition(name) ?? Infinity) < dayOf(timeMs);
      const dropped: string[] = [];
      for (const table of HISTORY_TABLES) {
        for (const { name, is_detaching: isDetaching } of await list(table)) {
          if (!isOld(name)) continue;
          known.delete(dayOfPartition(name) ?? 0);
          await pool.query(isDetaching ? finishDetaching(table, name) : detachPartition(table, name));
        }
        const { rows } = await pool.query<{ name: string }>(LIST_DETACHED, [`^${table}_[0-9]{8}$`]);
        for (const { name } of rows.filter((row) => isOld(row.name))) {
          await pool.query(dropPartition(name));
          dropped.push(name);
        }
      }
      return dropped;
    },
  };
}
export type Partitions = ReturnType<typeof createPartitions>;
