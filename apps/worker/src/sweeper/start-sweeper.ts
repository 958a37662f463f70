import type { Logger } from '@herald/runtime/log/logger';
import type { UpkeepMetrics } from '../metrics/create-upkeep-metrics.ts';

export type SweeperDeps = {
  readonly sweeps: readonly (() => Promise<unknown>)[];
  /** Mean time between two rounds, in ms; each is moved by up to a quarter, so that workers don't march in step. */
  readonly everyMs: number;
  readonly metrics: Pick<UpkeepMetrics, 'sweepFailed'>;
  readonly logger: Logger;
  readonly random: () => number;
};

export type Sweeper = {
  /** Waits for the sweep under way, and begins no other. */
  readonly stop: () => Promise<void>;
};

/** Runs the sweeps one after the other, again and again. A failed round is logged and the next one tries anew. */
export function startSweeper({ sweeps, everyMs, metrics, logger, random }: SweeperDeps): Sweeper {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const runRound = async () => {
    for (const sweep of sweeps) {
      if (stopped) return;
      try {
        await sweep();
      } catch (error) {
        metrics.sweepFailed();
        logger.warn('sweeper.failed', {}, error);
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
