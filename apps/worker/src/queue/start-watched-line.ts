import type { Logger, UpkeepMetrics } from '@herald/infra';
import type { DeliveryWorker } from './start-delivery-worker.ts';

export type WatchedLineDeps = {
  readonly start: () => DeliveryWorker;
  /** Jobs that a worker should have fetched by now. */
  readonly countDue: () => Promise<number>;
  /** Ends the process for its supervisor. */
  readonly giveUp: () => void;
  readonly everyMs: number;
  /** Work is due and nothing was fetched for so long: the line hangs. In ms. */
  readonly hungAfterMs: number;
  readonly metrics: Pick<UpkeepMetrics, 'lineHung'>;
  readonly logger: Logger;
  /** A clock that never jumps, in ms. */
  readonly now: () => number;
};

/** Longest wait for a hung worker to let go, in ms. */
const ABANDON_MS = 5_000;

/**
 * A line that recovers by itself. A BullMQ worker can hang for good after a failover, silently: then it is closed by
 * force and a new one is started; when the new one hangs too, the process ends.
 */
export function startWatchedLine(deps: WatchedLineDeps): Pick<DeliveryWorker, 'stop'> {
  const { start, countDue, giveUp, everyMs, hungAfterMs, metrics, logger, now } = deps;
  let line = start();
  /** Since when work has been due without a fetch; undefined while all is well. */
  let idleSince: number | undefined;
  let restarts = 0;
  let checking = false;

  const isHung = async (): Promise<boolean> => {
    const { inWork, lastFetchAt } = line.activity();
    if (inWork > 0 || (idleSince !== undefined && lastFetchAt >= idleSince)) {
      idleSince = undefined;
      restarts = 0;
    }
    if (inWork > 0 || (await countDue()) === 0) {
      idleSince = undefined;
      return false;
    }
    idleSince ??= now();
    return now() - idleSince >= hungAfterMs;
  };

  const check = async () => {
    if (!(await isHung())) return;
    metrics.lineHung();
    logger.error('worker.hung', { hungForMs: now() - (idleSince ?? now()), restarts });
    if (restarts > 0) {
      giveUp();
      return;
    }
    restarts++;
    idleSince = undefined;
    const hung = line;
    line = start();
    await Promise.race([hung.abandon(), new Promise((resolve) => setTimeout(resolve, ABANDON_MS).unref())]);
  };

  const timer = setInterval(() => {
    // One check at a time: while Redis is away they wait for it to come back.
    if (checking) return;
    checking = true;
    check()
      .catch((error: unknown) => {
        logger.warn('worker.watch_failed', {}, error);
      })
      .finally(() => {
        checking = false;
      });
  }, everyMs);

  return {
    stop: async () => {
      clearInterval(timer);
      await line.stop();
    },
  };
}
