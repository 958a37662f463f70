import { oneAtATime } from '@herald/runtime/async/one-at-a-time';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedisTarget } from '../server/redis-target.ts';
import { createStuckCheck } from './check-stuck.ts';
import { closeRedis, connectRedis, type ConnectionUse, type RedisClient } from './connect-redis.ts';
import type { RedisMetrics } from './create-redis-metrics.ts';
import { startHeartbeat, type Heartbeat } from './heartbeat.ts';
import { nameConnection } from './layout.ts';

export type OpenConnectionsDeps = {
  readonly target: RedisTarget;
  readonly use: ConnectionUse;
  readonly metrics: RedisMetrics;
  readonly logger: Logger;
  /** Ends the process, because a connection doesn't recover though Redis is there. */
  readonly giveUp: () => void;
};

/** How often the connections are checked for one that doesn't recover, in ms. */
const STUCK_CHECK_MS = 5_000;

/** Opens the connections of one process to Redis, each with a heartbeat. */
export function openConnections({ target, use, metrics, logger, giveUp }: OpenConnectionsDeps) {
  const held: { readonly name: string; readonly redis: RedisClient; readonly heartbeat: Heartbeat }[] = [];
  const listeners: (() => void)[] = [];
  const checkStuck = createStuckCheck({
    connections: () => held.map(({ name, heartbeat }) => ({ name, lastAnswerAt: heartbeat.lastAnswerAt() })),
    async askAnew() {
      await closeRedis(await connectRedis({ target, use: 'request', name: 'herald-check', onError: () => undefined }));
    },
    onStuck: (connection, silentForMs) => {
      logger.error('redis.stuck', { connection, silentForMs });
      giveUp();
    },
    now: () => performance.now(),
  });
  const checkOnce = oneAtATime(checkStuck);
  const timer = setInterval(() => void checkOnce(), STUCK_CHECK_MS);

  return {
    /** @throws RedisUnreachableError */
    async open(name: string, holds: 'commands' | 'subscriptions' = 'commands'): Promise<RedisClient> {
      const onError = (error: Error) => {
        metrics.failed({ connection: name });
        logger.warn('redis.error', { connection: name }, error);
      };
      const onReconnect = () => {
        metrics.reconnected({ connection: name });
        logger.info('redis.reconnected', { connection: name });
        for (const listener of listeners) listener();
      };
      const ownUse = holds === 'subscriptions' ? holds : use;
      const redis = await connectRedis({ target, use: ownUse, name: nameConnection(name), onError, onReconnect });
      held.push({ name, redis, heartbeat: startHeartbeat(redis, holds) });
      return redis;
    },
    /** Whether the server of one of these connections owes an answer for too long. No I/O. */
    isSilent: (...connections: readonly RedisClient[]) =>
      held.some(({ redis, heartbeat }) => connections.includes(redis) && heartbeat.isSilent()),
    /** Adds a listener that is called after each reconnection. */
    onReconnect: (listener: () => void) => {
      listeners.push(listener);
    },
    /** Whatever waits for Redis fails at once, and so does all that comes. `close` is still to be called. */
    giveUp: (): void => {
      logger.warn('redis.given_up');
      for (const { redis } of held) void closeRedis(redis, true);
    },
    close: async (): Promise<void> => {
      clearInterval(timer);
      await Promise.all(
        held.splice(0).map(async ({ redis, heartbeat }) => {
          heartbeat.stop();
          await closeRedis(redis, heartbeat.isSilent());
        }),
      );
    },
  };
}
export type Connections = ReturnType<typeof openConnections>;
