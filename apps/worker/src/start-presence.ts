import { PRESENCE_INTERVAL_MS, type Logger, type WorkerPresence } from '@herald/infra';

export type PresenceDeps = {
  readonly presence: WorkerPresence;
  readonly workerId: string;
  readonly logger: Logger;
  readonly now: () => number;
};

/** Shows the worker as alive until stopped. */
export async function startPresence({ presence, workerId, logger, now }: PresenceDeps) {
  const show = () =>
    presence.show(workerId, now()).catch((error: unknown) => {
      logger.warn('worker.presence_failed', {}, error);
    });
  await show();
  const timer = setInterval(() => void show(), PRESENCE_INTERVAL_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await presence.leave(workerId);
    },
  };
}
