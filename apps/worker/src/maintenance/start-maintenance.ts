import type { Logger } from '@herald/runtime/log/logger';
import type { InternalErrorMetrics } from '../metrics/create-internal-error-metrics.ts';

export type MaintenanceDeps = {
  readonly routine: () => Promise<unknown>;
  /**
   * Mean time between two rounds, in ms. Each round is moved by up to a quarter, so that workers don't march in step.
   */
  readonly everyMs: number;
  readonly metrics: Pick<InternalErrorMetrics, 'maintenanceFailed'>;
  readonly logger: Logger;
  readonly random: () => number;
};

/** Runs a maintenance routine again and again. A failure is logged, and the next round tries anew. */
export function startMaintenance({ routine, everyMs, metrics, logger, random }: MaintenanceDeps) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let round = Promise.resolve();

  const runRound = async (): Promise<void> => {
    try {
      await routine();
    } catch (error) {
      metrics.maintenanceFailed();
      logger.warn('maintenance.failed', {}, error);
    }
    if (!isStopped) schedule();
  };
  const schedule = (): void => {
    const startRound = () => {
      round = runRound();
    };
    timer = setTimeout(startRound, everyMs * (0.75 + random() / 2));
  };
  schedule();
  return {
    /** Waits for the round under way, and begins no other. May be called twice. */
    stop: async (): Promise<void> => {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
