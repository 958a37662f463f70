import { ConfigError } from './env.ts';
import type { Logger } from './log.ts';

export type RunningProcess = { readonly stop: () => Promise<void> };

type RunProcessOptions = {
  /** @param signal aborted by the first SIGTERM or SIGINT: a start that waits for something gives up, and can be stopped */
  readonly start: (signal: AbortSignal) => Promise<RunningProcess>;
  /** A sentence about a failed start. Undefined: the error is unforeseen, and ends the process with its stack. */
  readonly explain: (error: unknown) => string | undefined;
  readonly logger: () => Logger | undefined;
  /** Longest orderly stop, in ms. */
  readonly stopLimitMs: () => number;
};

/**
 * Runs a process until SIGTERM or SIGINT. It exits with 0 after an orderly stop, and with 1 when the start fails, the
 * stop takes too long, or a second signal comes. A signal during the start takes effect after the start, which may end
 * early.
 */
export async function runProcess({ start, explain, logger, stopLimitMs }: RunProcessOptions): Promise<void> {
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) process.exit(1);
    stopping.abort();
    logger()?.info('process.stopping', { signal });
    setTimeout(() => {
      logger()?.error('process.stop_timed_out');
      process.exit(1);
    }, stopLimitMs()).unref();
    const onStopped = () => {
      logger()?.info('process.stopped');
      process.exit(0);
    };
    const onFailure = (error: unknown) => {
      logger()?.error('process.stop_failed', {}, error);
      process.exit(1);
    };
    void started.then((running) => running.stop()).then(onStopped, onFailure);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const started = (async () => await start(stopping.signal))();
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

type Release = () => Promise<void> | void;

/** Acquired things, and how each is released. */
export function createResources(onFailure: (name: string, error: unknown) => void) {
  const releases: { readonly name: string; readonly release: Release }[] = [];
  return {
    /** Registers the release of something just acquired. */
    add: (name: string, release: Release): void => {
      releases.push({ name, release });
    },
    /** Releases everything, newest first, even when one release fails. May be called twice. */
    release: async (): Promise<void> => {
      for (let next = releases.pop(); next; next = releases.pop()) {
        try {
          await next.release();
        } catch (error) {
          onFailure(next.name, error);
        }
      }
    },
  };
}
export type Resources = ReturnType<typeof createResources>;
