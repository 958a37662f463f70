export const DAY_MS = 86_400_000;

export type HistoryTable = 'deliveries' | 'transitions';
/** Deliveries are dropped first: a transition that is looked up has its deliveries. */
export const HISTORY_TABLES: readonly HistoryTable[] = ['deliveries', 'transitions'];

/** Whole days of UTC since 1970. */
export const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS);

/** Such as `deliveries_20261123`. */
export function partitionName(table: HistoryTable, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/** The day of a partition; undefined for another table. */
export function dayOfPartition(name: string): number | undefined {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  return year === undefined ? undefined : Date.parse(`${year}-${month ?? ''}-${day ?? ''}T00:00:00Z`) / DAY_MS;
}
