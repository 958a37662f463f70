import type { Logger } from '@herald/runtime/log/logger';
import type { MetricsRegistry } from '@herald/runtime/metrics/create-metrics-registry';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Connections } from '../redis/open-connections.ts';
import { addClockGauge } from './add-clock-gauge.ts';
import { startClock, type RunningClock } from './start-clock.ts';

/** Starts the clock of a process, with its metric and its lines in the log. */
export async function openClock(
  redis: RedisClient,
  connections: Connections,
  registry: MetricsRegistry,
  logger: Logger,
): Promise<RunningClock> {
  const clock = await startClock(redis, logger);
  // After a failover another server may answer.
  connections.onReconnect(() => void clock.refresh());
  addClockGauge(registry, clock.skewMs);
  return clock;
}
