import { ConfigError } from '../config/env.ts';
import type { Logger } from '../log/logger.ts';
import { RedisUnreachableError } from '../redis/connect-redis.ts';
import { isErrorLike } from './is-error-like.ts';
import { isRedisRefusal, isRedisUnavailable } from '../redis/is-redis-unavailable.ts';
import { sayRefusal } from '../redis/requirements/refusal.ts';

export type RunningProcess = { readonly stop: () => Promise<void> };

/** How a signal ends the process: the second one, or a stop that takes too long, ends it at once. */
export type RunProcessOptions = {
  readonly start: () => Promise<RunningProcess>;
  readonly logger: () => Logger | undefined;
  /** Longest orderly stop, in ms. */
  readonly stopLimitMs: () => number;
};

/**
 * Runs a process until SIGTERM or SIGINT; exits 0 after an orderly stop, 1 when it can't start or must give up. A signal that
 * comes while it starts waits for the start, and then stops it.
 */
export async function runProcess({ start, logger, stopLimitMs }: RunProcessOptions): Promise<void> {
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
    if (error instanceof ConfigError || error instanceof RedisUnreachableError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(1);
    }
    // With its message alone: the error carries the command, and so a script, a key's digest or a sealed secret.
    if (isRedisRefusal(error) || (isErrorLike(error) && isRedisUnavailable(error))) {
      process.stderr.write(`Redis failed this start (${sayRefusal(error)}); "herald doctor" says what to set.\n`);
      process.exit(1);
    }
    throw error;
  }
}
