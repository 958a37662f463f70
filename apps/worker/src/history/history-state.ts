import { isErrorLike } from '@herald/runtime/errors/is-error-like';
import { warning, type Finding } from '@herald/runtime/findings/finding';
import type { Logger } from '@herald/runtime/log/logger';
import type { HistoryMetrics } from './create-history-metrics.ts';

export type HistoryStateDeps = {
  readonly logger: Logger;
  readonly metrics: Pick<HistoryMetrics, 'failed'>;
  readonly now: () => number;
};

/** Whether the history takes what moves to it. The log tells each change once. */
export function createHistoryState({ logger, metrics, now }: HistoryStateDeps) {
  let failure: { readonly since: number; readonly message: string } | undefined;
  return {
    failed(error: unknown): void {
      metrics.failed();
      const message = isErrorLike(error) ? error.message : String(error);
      if (failure?.message !== message) logger.warn('history.unavailable', { detail: message });
      failure = { since: failure?.since ?? now(), message };
    },
    worked(): void {
      if (failure) logger.info('history.recovered', { seconds: Math.round((now() - failure.since) / 1_000) });
      failure = undefined;
    },
    /**
     * For the open page: it has no detail, which may name an address.
     * @param waiting settled deliveries in Redis, where that is known
     */
    problem(waiting?: number): Finding | undefined {
      if (!failure) return undefined;
      const since = new Date(failure.since).toISOString();
      const count = waiting === undefined ? '' : `${waiting} `;
      return warning(
        'history_away',
        `the history takes nothing since ${since}; ${count}settled deliveries stay in Redis`,
      );
    },
  };
}
export type HistoryState = ReturnType<typeof createHistoryState>;
