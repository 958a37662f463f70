import { ConfigError } from '../env/env.ts';
import type { Logger } from '../log/logger.ts';

export type RunningProcess = { readonly stop: () => Promise<void> };

/** How a signal ends the process: the second one, or a stop that takes too long, ends it at once. */
export type RunProcessOptions = {
  readonly start: () => Promise<RunningProcess>;
  /** What a start that failed says to whoever started it; undefined: nobody foresaw the error, which ends the process as it is. */
  readonly explain: (error: unknown) => string | undefined;
  readonly logger: () => Logger | undefined;
  /** Longest orderly stop, in ms. */
  readonly stopLimitMs: () => number;
};

/**
 * Runs a process until SIGTERM or SIGINT; exits 0 after an orderly stop, 1 when it can't start or must give up. A signal that
 * comes while it starts waits for the start, and then stops it.
 */
export async function runProcess({ start, explain, logger, stopLimitMs }: RunProcessOptions): Promise<void> {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    logger()?.info('process.stopping', { signal });
    setTimeout(() => {
      logger()?.error('process.stop_timed_out');
      process.exit(1);
    }, stopLimitMs()).unref();
    void started
      .then((running) => running.stop())
      .then(
        () => {
          logger()?.info('process.stopped');
          process.exit(0);
        },
        (error: unknown) => {
          logger()?.error('process.stop_failed', {}, error);
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const started = (async () => await start())();
  try {
    await started;
  } catch (error) {
    const sentence = error instanceof ConfigError ? error.message : explain(error);
    if (sentence !== undefined) {
      process.stderr.write(`${sentence}\n`);
      process.exit(1);
    }
    throw error;
  }
}
