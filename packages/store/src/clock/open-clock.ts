import type { Logger } from '@herald/runtime/log/logger';
import { addClockGauge } from './add-clock-gauge.ts';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { Connections } from '../redis/open-connections.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import { startClock, type RunningClock } from './start-clock.ts';

export type OpenClockDeps = {
  readonly redis: RedisClient;
  readonly connections: Pick<Connections, 'onReconnect'>;
  readonly registry: MetricsRegistry;
  readonly logger: Logger;
};

/** A process' clock, with its metric and its lines in the log. */
export async function openClock({ redis, connections, registry, logger }: OpenClockDeps): Promise<RunningClock> {
  const clock = await startClock({
    redis,
    report: {
      skewed: (skewMs) => {
        logger.warn('clock.off', { skewMs });
      },
      rightAgain: (skewMs) => {
        logger.info('clock.right_again', { skewMs });
      },
      redisJumped: (byMs) => {
        logger.warn('clock.redis_jumped', { byMs });
      },
    },
  });
  // It may be another server, after a failover.
  connections.onReconnect(() => void clock.refresh());
  addClockGauge(registry, clock);
  return clock;
}
