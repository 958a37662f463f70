import type { HistoryStatus } from '@herald/history/requirements/read-history-status';

/** Settled deliveries that Redis keeps for the history. `oldestAt`: when the first of them settled, epoch ms. */
export type Backlog = { readonly count: number; readonly oldestAt?: number };

/** A history in sentences. */
export function describeHistory({ serverVersion, missing, days }: HistoryStatus, backlog: Backlog, now: number) {
  const deliveries = days.reduce((sum, day) => sum + day.deliveries, 0);
  const bytes = days.reduce((sum, day) => sum + day.bytes, 0);
  const schema =
    missing.length === 0 ? 'up to date' : `lacks ${missing.join(', ')}: run "herald history migrate" or start a worker`;
  const minutes = Math.round((now - (backlog.oldestAt ?? now)) / 60_000);
  return [
    `PostgreSQL ${serverVersion}, schema ${schema}`,
    days.length === 0
      ? 'no days yet'
      : `${days.length} days, ${days[0]?.day ?? ''} to ${days.at(-1)?.day ?? ''}: about ${deliveries} deliveries, ${Math.round(bytes / 2 ** 20)} MiB`,
    backlog.count === 0
      ? 'nothing waits in Redis'
      : `${backlog.count} settled deliveries wait in Redis, the first for ${minutes} min`,
  ];
}
