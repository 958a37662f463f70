import type { Clock } from '@herald/infra';
import { createRedisBackend, type BackendFactory, type RedisQueueBackend } from 'bullmq';

/**
 * BullMQ's own backend, but times in Redis are Redis' time. BullMQ works with this machine's clock; what it hands to the backend, and what the
 * backend hands to it, is turned from one into the other here. So a worker whose clock is wrong waits neither too long nor too short,
 * and what it delays is due for all others when it should be.
 * @param blockLimitMs the longest that a call may block
 */
export function createRedisTimeBackend(
  { skewMs }: Pick<Clock, 'skewMs'>,
  blockLimitMs: number,
): BackendFactory<RedisQueueBackend> {
  /** 0 and less are no times. */
  const toLocal = (at: number) => (at > 0 ? at + skewMs() : at);
  return (...parameters) => {
    const backend = createRedisBackend(...parameters);
    const translated: Partial<RedisQueueBackend> = {
      async waitForJob(blockTimeout) {
        const marker = await backend.waitForJob(blockTimeout);
        return marker && { ...marker, score: toLocal(marker.score) };
      },
      async moveToActive(token, name) {
        const [job, id, limitedMs, delayedUntil, ...rest] = (await backend.moveToActive(token, name)) as unknown[];
        return [job, id, limitedMs, toLocal(Number(delayedUntil ?? 0)), ...rest];
      },
      moveToDelayed: (id, at, delayMs, token, opts) => backend.moveToDelayed(id, at - skewMs(), delayMs, token, opts),
      get maximumBlockTimeout() {
        return Math.min(backend.maximumBlockTimeout, blockLimitMs / 1_000);
      },
    };
    return new Proxy(backend, {
      get: (target, name) => Reflect.get(name in translated ? translated : target, name) as unknown,
    });
  };
}
