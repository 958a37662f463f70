import { createRetryPolicy } from '@herald/core';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createKeyspace, type ShardKeys } from '@herald/store/keyspace/keys';
import { createPurgeStore } from '@herald/store/purges/purge-store';
import { createReplaySteps } from '@herald/store/replays/replay-steps';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { publishTestReply } from '@herald/store/test-events/test-replies';
import type { Clock } from '@herald/store/clock/clock';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { WorkerConfig } from '@herald/config/worker-config';
import type { WorkerMetrics } from './metrics/create-worker-metrics.ts';
import type { DeliveryReport } from './deliveries/create-delivery-report.ts';
import type { MakeAttempt } from './deliveries/make-attempt.ts';
import { processDelivery, type ProcessDeliveryDeps } from './deliveries/process-delivery.ts';
import { startDeliveryQueue } from './queue/start-delivery-queue.ts';
import { startMaintenance } from './maintenance/start-maintenance.ts';
import { feedReplays } from './maintenance/feed-replays.ts';
import { runPurges } from './maintenance/run-purges.ts';
import { processTestEvent, type ProcessTestEventDeps } from './test-events/process-test-event.ts';

const PURGE_EVERY_MS = 1_000;
const FEED_EVERY_MS = 250;

export type Shard = {
  readonly keys: ShardKeys;
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly redis: RedisClient;
  readonly queueRedis: RedisClient;
  /** A connection of this shard's own, on which a command blocks. */
  readonly waitRedis: RedisClient;
  readonly clock: Clock;
  readonly makeAttempt: MakeAttempt;
  readonly report: DeliveryReport;
  readonly metrics: WorkerMetrics;
  /** Cuts off what is in flight. */
  readonly cutOff: AbortSignal;
};

export type RunningShard = {
  readonly inFlight: () => number;
  /** Reserves nothing new and waits for what is in flight. */
  readonly drain: () => Promise<void>;
};

/** Starts what serves one shard: its queue, its purges and its replays. */
export function startShard(resources: Resources, shard: Shard): RunningShard {
  const { keys, config, logger, redis, queueRedis, waitRedis, clock, makeAttempt, report, metrics, cutOff } = shard;
  const { now } = clock;
  const random = Math.random;
  const retention = createDeliveryRetention(config.retentionMs);
  const deliveries = createDeliveryStore({ redis, keys, retention });
  let stopping = false;
  const delivery: ProcessDeliveryDeps = {
    deliveries,
    makeAttempt,
    report,
    now,
    random,
    destinationLimit: config.destinationConcurrency,
    disableAfterMs: config.disableAfterMs,
    retryPolicy: createRetryPolicy(config.retryScheduleMs),
    isStopping: () => stopping,
  };
  const testEvents = createTestEventStore({ redis, keyspace: createKeyspace(config.shardCount), retention });
  const testEvent: ProcessTestEventDeps = {
    deliveries,
    makeAttempt,
    report,
    now,
    destinationLimit: config.destinationConcurrency,
    deadlineMs: config.deliveryTimeoutMs,
    claim: testEvents.claim,
    reply: (deliveryId, reply) => publishTestReply(redis, deliveryId, reply),
  };
  const queue = startDeliveryQueue({
    redis: queueRedis,
    waitRedis,
    keys,
    concurrency: config.concurrency,
    destinationLimit: config.destinationConcurrency,
    process: (turn, isTest) =>
      isTest ? processTestEvent(testEvent, turn, cutOff) : processDelivery(delivery, turn, cutOff),
    metrics: metrics.internalErrors,
    logger,
    clock,
    random,
  });

  const purges = createPurgeStore({ redis, keys, retention });
  const purging = startMaintenance({
    routines: [() => runPurges({ purges, reportPurged: report.purged, logger, now })],
    everyMs: PURGE_EVERY_MS,
    metrics: metrics.internalErrors,
    logger,
    random,
  });
  resources.add('purging', purging.stop);
  const replays = createReplaySteps({ redis, keys, keepMs: config.retentionMs });
  const feeding = startMaintenance({
    routines: [() => feedReplays({ replays, reportReplayed: metrics.deliveries.replayed, now })],
    everyMs: FEED_EVERY_MS,
    metrics: metrics.internalErrors,
    logger,
    random,
  });
  resources.add('feeding', feeding.stop);
  return {
    inFlight: queue.inWork,
    drain: async () => {
      stopping = true;
      // Maintenance too: what it claims from now on, this worker would no longer serve.
      await Promise.all([queue.stop(), purging.stop(), feeding.stop()]);
    },
  };
}
