import { answerWithin } from '@herald/runtime/async/answer-within';
import { PRESENCE_INTERVAL_MS, type WorkerPresence } from '@herald/store/service-state/worker-presence';
import type { Logger } from '@herald/runtime/log/logger';

export type PresenceDeps = {
  readonly presence: WorkerPresence;
  readonly workerId: string;
  readonly logger: Logger;
  readonly now: () => number;
};

const LEAVE_LIMIT_MS = 2_000;

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
      // With Redis away it would take as long as that is: the sign then leaves by itself.
      await answerWithin(LEAVE_LIMIT_MS, presence.leave(workerId), () => undefined);
    },
  };
}
