import type { Logger } from '@herald/runtime/log/logger';
import type { InternalErrorMetrics } from '../metrics/create-internal-error-metrics.ts';

export type MaintenanceDeps = {
  readonly routines: readonly (() => Promise<unknown>)[];
  /** Mean time between two rounds, in ms; each is moved by up to a quarter, so that workers don't march in step. */
  readonly everyMs: number;
  readonly metrics: Pick<InternalErrorMetrics, 'maintenanceFailed'>;
  readonly logger: Logger;
  readonly random: () => number;
};

export type Maintenance = {
  /** Waits for the routine under way, and begins no other. */
  readonly stop: () => Promise<void>;
};

/**
 * Runs maintenance routines one after the other, again and again. A failure is logged and the next round tries anew.
 */
export function startMaintenance({ routines, everyMs, metrics, logger, random }: MaintenanceDeps): Maintenance {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const runRound = async () => {
    for (const runRoutine of routines) {
      if (stopped) return;
      try {
        await runRoutine();
      } catch (error) {
        metrics.maintenanceFailed();
        logger.warn('maintenance.failed', {}, error);
      }
    }
  };
  let round = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(
      () => {
        round = runRound().then(() => {
          if (!stopped) schedule();
        });
      },
      everyMs * (0.75 + random() / 2),
    );
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
