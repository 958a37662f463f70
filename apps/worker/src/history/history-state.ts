import type { Restored } from '@herald/history/requirements/find-restored';
import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { warning, type Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';
import { historyAway } from '@herald/store/lists/history-mark';
import type { HistoryMetrics } from './create-history-metrics.ts';

export type HistoryStateDeps = {
  readonly logger: Logger;
  readonly metrics: Pick<HistoryMetrics, 'failed'>;
  readonly now: () => number;
};

/** A day that is still there so long after it should be gone is told: somebody reads it, or it can't be dropped. */
const OVERDUE_MS = 6 * 3_600_000;

type Failure = { readonly since: number; readonly message: string };

/**
 * Whether the history takes what moves to it. Each part of the work (a shard, the days, the replays) says it for itself: what
 * works for one may fail for another. The log tells each reason once, and when no part fails any more.
 */
export function createHistoryState({ logger, metrics, now }: HistoryStateDeps) {
  const failures = new Map<string, Failure>();
  let overdueMs = 0;
  let toldReason: string | undefined;
  let longer: { readonly ms: number; readonly wishedMs: number } | undefined;
  const since = () => Math.min(...[...failures.values()].map((failure) => failure.since));
  return {
    failed(part: string, error: unknown): void {
      metrics.failed();
      const message = isErrorLike(error) ? error.message : String(error);
      const isTold = [...failures.values()].some((failure) => failure.message === message);
      if (!isTold) logger.warn('history.unavailable', { detail: message });
      failures.set(part, { since: failures.get(part)?.since ?? now(), message });
    },
    /** Call it only when PostgreSQL has answered. */
    worked(part: string): void {
      if (!failures.has(part)) return;
      const begun = since();
      failures.delete(part);
      if (failures.size === 0) logger.info('history.recovered', { seconds: Math.round((now() - begun) / 1_000) });
    },
    /**
     * What a round of dropping days has left. Each reason is logged once.
     * @param ms for how long the oldest day that HISTORY_RETENTION has ended has been over; 0: there is none
     */
    daysStay(ms: number, error?: unknown): void {
      overdueMs = ms;
      const reason = isErrorLike(error) ? error.message : undefined;
      if (reason !== undefined && reason !== toldReason) {
        logger.warn('history.days_stay', { seconds: Math.round(ms / 1_000), detail: reason });
      }
      toldReason = reason;
    },
    /** HISTORY_RETENTION was shortened by more than half, and nobody has said that it is meant. */
    keptFor(ms: number, wishedMs: number): void {
      const kept = ms > wishedMs ? { ms, wishedMs } : undefined;
      if (kept && !longer) logger.warn('history.retention_kept', { keptMs: ms, wishedMs });
      longer = kept;
    },
    /** A backup was restored. */
    restored({ older, from, to }: Restored): void {
      const times = [from, to].map((ms) => (ms > 0 ? new Date(ms).toISOString() : undefined));
      logger.warn('history.restored', { older, from: times[0], to: times[1] });
    },
    overdueMs: () => overdueMs,
    isUp: () => failures.size === 0,
    /**
     * For the open page: it has no detail, which may name an address.
     * @param waiting settled deliveries in Redis, where that is known
     */
    problems(waiting?: number): readonly Finding[] {
      return [
        ...(failures.size > 0 ? [historyAway({ since: since(), waiting })] : []),
        ...(overdueMs > OVERDUE_MS ? [warnOfDays(overdueMs)] : []),
        ...(longer ? [warnOfRetention(longer.ms, longer.wishedMs)] : []),
      ];
    },
  };
}
export type HistoryState = ReturnType<typeof createHistoryState>;

function warnOfDays(overdueMs: number): Finding {
  const hours = Math.floor(overdueMs / 3_600_000);
  return warning(
    'history_days_stay',
    `a day that HISTORY_RETENTION ended ${hours} hours ago is still in the history, with its bodies`,
  );
}

function warnOfRetention(keptMs: number, wishedMs: number): Finding {
  const [kept, wished] = [keptMs, wishedMs].map((ms) => Math.round(ms / 86_400_000));
  return warning(
    'history_retention_kept',
    `HISTORY_RETENTION is ${wished} days and was ${kept}: days are dropped by it once "herald history retention --yes" says that it is meant`,
  );
}
