import { DAY_MS, partitionName, type HistoryTable } from '../days/days.ts';

/** One transaction makes the partitions of a day: whoever comes second waits, and finds them. */
export const LOCK_FOR_PARTITIONS = 'SELECT pg_advisory_xact_lock(20776, 2)';

/** Every partition, and whether it is being detached. $1: name of the table */
export const LIST_PARTITIONS = `
SELECT child.relname AS name, inhdetachpending AS is_detaching
FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
WHERE inhparent = to_regclass('herald.' || $1)`;

/**
 * Statements that make the partition of a day (whole days since 1970). Attaching locks the table for nobody who reads
 * or writes, while creating it as a partition would. Names are made of numbers alone.
 */
export function createPartition(table: HistoryTable, day: number): string {
  const name = partitionName(table, day);
  return `CREATE TABLE herald.${name} (LIKE herald.${table} INCLUDING ALL);
ALTER TABLE herald.${table} ATTACH PARTITION herald.${name}
  FOR VALUES FROM (${day * DAY_MS}) TO (${(day + 1) * DAY_MS})`;
}

/** Waits for whoever reads the partition, and locks out nobody. It can't be part of a transaction. */
export const detachPartition = (table: HistoryTable, name: string) =>
  `ALTER TABLE herald.${table} DETACH PARTITION herald.${name} CONCURRENTLY`;
/** After a detaching that was cut off. */
export const finishDetaching = (table: HistoryTable, name: string) =>
  `ALTER TABLE herald.${table} DETACH PARTITION herald.${name} FINALIZE`;
export const dropPartition = (name: string) => `DROP TABLE IF EXISTS herald.${name}`;

/** Partitions that were detached and not dropped. $1: pattern of their names */
export const LIST_DETACHED = `
SELECT relname AS name FROM pg_class
WHERE relnamespace = to_regnamespace('herald') AND relkind = 'r' AND NOT relispartition AND relname ~ $1`;
