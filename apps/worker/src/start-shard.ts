import { createRetryPolicy } from '@herald/core';
import { createAuditFollower } from '@herald/store/access/audit-trail';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createPurgeStore } from '@herald/store/bulk/purge-store';
import { createReplaySteps } from '@herald/store/bulk/replay-steps';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { publishTestReply } from '@herald/store/test-events/test-replies';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { ShardKeys } from '@herald/store/keys/keys';
import { logEntries } from './audit/follow-trail.ts';
import type { WorkerContext } from './context.ts';
import type { TurnDeps } from './deliver.ts';
import { processDelivery, type ProcessDeliveryDeps } from './deliver.ts';
import { startMoving } from './moving/start-moving.ts';
import { feedReplays, runPurges, startMaintenance } from './maintenance.ts';
import { startDeliveryQueue } from './queue.ts';
import { processTestEvent, type ProcessTestEventDeps } from './deliver-test-event.ts';

const PURGE_EVERY_MS = 1_000;
const FEED_EVERY_MS = 250;
const LOG_TRAIL_EVERY_MS = 2_000;

/**
 * Starts the queue, the purges and the replays of one shard.
 * @param waitRedis a connection of this shard's own, on which a command blocks
 */
export function startShard(context: WorkerContext, keys: ShardKeys, waitRedis: RedisClient) {
  const { config, logger, resources, metrics, redis, queueRedis, clock, keyspace, cutOff } = context;
  const { makeAttempt, platform, report, now } = context;
  const random = Math.random;
  const retention = createDeliveryRetention(config.retentionMs, context.history !== undefined);
  let isStopping = false;
  const deliveries = createDeliveryStore({ redis, keys, retention });
  const groupLimit = config.destinationConcurrency;
  const turn: TurnDeps = { deliveries, makeAttempt, groupLimit, platform, report, now };
  const delivery: ProcessDeliveryDeps = {
    ...turn,
    retryPolicies: {
      usual: createRetryPolicy(config.retryScheduleMs),
      callbacks: createRetryPolicy(config.callbackRetryScheduleMs),
    },
    disableAfterMs: config.disableAfterMs,
    isStopping: () => isStopping,
    random,
  };
  const testEvent: ProcessTestEventDeps = {
    ...turn,
    claim: createTestEventStore({ redis, keyspace, retention }).claim,
    reply: (deliveryId, reply) => publishTestReply(redis, deliveryId, reply),
    deadlineMs: config.deliveryTimeoutMs,
  };
  const queue = startDeliveryQueue({
    redis: queueRedis,
    waitRedis,
    keys,
    concurrency: config.concurrency,
    groupLimit,
    process: (reserved, isTest) =>
      isTest
        ? processTestEvent(testEvent, reserved, cutOff.signal)
        : processDelivery(delivery, reserved, cutOff.signal),
    metrics: metrics.internalErrors,
    logger,
    clock,
    random,
  });

  const maintain = (name: string, everyMs: number, routine: () => Promise<unknown>) => {
    const maintenance = startMaintenance({ routine, everyMs, metrics: metrics.internalErrors, logger, random });
    resources.add(name, maintenance.stop);
    return maintenance;
  };
  const purges = createPurgeStore({ redis, keys, retention });
  const purging = maintain('purging', PURGE_EVERY_MS, () =>
    runPurges({ purges, reportPurged: report.purged, logger, now }),
  );
  const trail = createAuditFollower({ redis, keys });
  const logging = maintain('logging the audit trail', LOG_TRAIL_EVERY_MS, () => logEntries(trail, logger));
  const moving = startMoving(context, keys);
  resources.add('moving', moving.stop);
  const replays = createReplaySteps({
    redis,
    keys,
    keepMs: config.replayRetentionMs,
    ...context.ofRoom,
    history: context.history?.reader,
  });
  const feeding = maintain('feeding', FEED_EVERY_MS, () =>
    feedReplays({ replays, reportReplayed: metrics.deliveries.replayed, now }),
  );
  return {
    inFlight: queue.inWork,
    hold: queue.hold,
    resume: queue.resume,
    /** Reserves nothing new and waits for the sends in flight. */
    async drain(): Promise<void> {
      isStopping = true;
      // Maintenance too: this worker would not finish work that it claims from now on.
      await Promise.all([queue.stop(), purging.stop(), feeding.stop(), logging.stop(), moving.stop()]);
    },
  };
}
