import { randomUUID } from 'node:crypto';
import { answerWithin } from '@herald/runtime/async/answer-within';
import { PRESENCE_INTERVAL_MS } from '@herald/store/operators/create-service-state-reader';
import type { WorkerContext } from './context.ts';

const LEAVE_LIMIT_MS = 2_000;

/** Shows the worker as alive until it is stopped. */
export async function startPresence({ presence, logger, now, resources }: WorkerContext) {
  const workerId = randomUUID();
  const show = () =>
    presence.show(workerId, now()).catch((error: unknown) => {
      logger.warn('worker.presence_failed', {}, error);
    });
  await show();
  const timer = setInterval(() => void show(), PRESENCE_INTERVAL_MS);
  resources.add('presence', async () => {
    clearInterval(timer);
    // While Redis is away this would take as long as the outage. The entry then expires by itself.
    await answerWithin(LEAVE_LIMIT_MS, presence.leave(workerId), () => undefined);
  });
  return workerId;
}
