import type { HistoryStatus } from '@herald/history/requirements/prepare-history';

/**
 * Settled deliveries that Redis keeps for the history. `oldestAt`: when the first of them settled, epoch ms. `setAside`: how
 * many of them couldn't be moved, and are tried again each hour.
 */
export type Backlog = { readonly count: number; readonly setAside: number; readonly oldestAt?: number };

/** A history in sentences. */
export function describeHistory(status: HistoryStatus, backlog: Backlog, now: number) {
  const { serverVersion, missing, days, overdue } = status;
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
    ...(overdue.length === 0
      ? []
      : [
          `HISTORY_RETENTION has ended, and they are still there: ${overdue.join(', ')}; who reads them, or why they stay, is in the log of the workers`,
        ]),
    backlog.count === 0
      ? 'nothing waits in Redis'
      : `${backlog.count} settled deliveries wait in Redis, the first for ${minutes} min`,
    ...(backlog.setAside === 0 ? [] : [`${backlog.setAside} of them were set aside: the log of the workers says why`]),
  ];
}
