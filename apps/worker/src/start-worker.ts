import { randomUUID } from 'node:crypto';
import { createRetryPolicy } from '@herald/core';
import {
  closeRedis,
  connectRedis,
  createDeliveryQueue,
  createDeliveryRetention,
  createDeliveryStore,
  createDutyStore,
  createEgressSender,
  createKeyspace,
  createResources,
  createSecretBox,
  createTestEventStore,
  createWorkerPresence,
  publishTestReply,
  type Logger,
  type RedisClient,
  type Resources,
  type RunningProcess,
  type ShardKeys,
} from '@herald/infra';
import type { WorkerConfig } from './config.ts';
import { createMakeAttempt, type MakeAttempt } from './deliveries/make-attempt.ts';
import { processDelivery } from './deliveries/process-delivery.ts';
import { startHealthServer } from './health/start-health-server.ts';
import { startDeliveryWorker, type DeliveryWorker } from './queue/start-delivery-worker.ts';
import { startPresence } from './start-presence.ts';
import { startSweeper } from './sweeper/start-sweeper.ts';
import { auditOpen, sweepOwed } from './sweeper/sweep-duties.ts';
import { processTestEvent } from './test-events/process-test-event.ts';

const SWEEP_EVERY_MS = 1_000;
const TEST_LANE_CONCURRENCY = 50;

type Shard = {
  readonly keys: ShardKeys;
  readonly config: WorkerConfig;
  readonly logger: Logger;
  readonly redis: RedisClient;
  readonly queueRedis: RedisClient;
  readonly makeAttempt: MakeAttempt;
};

/** A worker process: its connections, one line and one test lane per shard, the sweeper, its health page. */
export async function startWorker(config: WorkerConfig, logger: Logger): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  try {
    const connect = async (name: string) => {
      const onError = (error: Error) => {
        logger.warn('redis.error', { connection: name }, error);
      };
      const redis = await connectRedis({ url: config.redisUrl, use: 'background', name, onError });
      resources.add(name, () => closeRedis(redis));
      return redis;
    };
    const redis = await connect('herald-worker');
    const queueRedis = await connect('herald-worker-queue');
    const sender = createEgressSender({ ...config.egress, deadlineMs: config.deliveryTimeoutMs });
    resources.add('sender', () => {
      sender.close();
    });
    const openSecret = createSecretBox(config.secretsKeys).open;
    const makeAttempt = createMakeAttempt({
      send: (request, signal) => sender.send(request, signal),
      openSecret,
      now: Date.now,
    });
    const lines = createKeyspace(config.shardCount).shards.flatMap((keys) =>
      startShard(resources, { keys, config, logger, redis, queueRedis, makeAttempt }),
    );
    resources.add('lines', async () => {
      await Promise.all(lines.map((line) => line.stop(config.deliveryTimeoutMs)));
    });
    const health = await startHealthServer({
      host: config.host,
      port: config.port,
      findProblems: () => Promise.resolve(redis.status === 'ready' ? [] : ['Redis is not connected']),
    });
    resources.add('health', () => health.close());
    const workerId = randomUUID();
    const presence = await startPresence({ presence: createWorkerPresence(redis), workerId, logger, now: Date.now });
    resources.add('presence', presence.stop);
    logger.info('worker.started', { workerId, healthPort: health.port, shards: config.shardCount });
    return { stop: resources.release };
  } catch (error) {
    await resources.release();
    throw error;
  }
}

/** Starts what serves one shard; returns its lines, which all shards stop together. */
function startShard(resources: Resources, shard: Shard): DeliveryWorker[] {
  const { keys, config, logger, redis, queueRedis, makeAttempt } = shard;
  const now = Date.now;
  const random = Math.random;
  const retention = createDeliveryRetention(config.retentionMs);
  const deliveries = createDeliveryStore({ redis, keys, retention });
  const testEvents = createTestEventStore({ redis, keyspace: createKeyspace(config.shardCount), retention });
  const queue = createDeliveryQueue({ redis: queueRedis, keys, name: 'deliveries' });
  resources.add('queue', queue.close);
  const duties = createDutyStore({ redis, keys });
  const sweep = {
    ...{ duties, queue, logger, now },
    cancelUnsentTest: (id: string) => deliveries.cancel(id, 'not_sent_in_time', now()),
  };
  const sweeper = startSweeper({
    sweeps: [() => sweepOwed(sweep), () => auditOpen(sweep)],
    everyMs: SWEEP_EVERY_MS,
    logger,
    random,
  });
  resources.add('sweeper', sweeper.stop);

  const lane = { redis: queueRedis, keys, deadlineMs: config.deliveryTimeoutMs, logger, now, random };
  const retryPolicy = createRetryPolicy(config.retryScheduleMs);
  const line = startDeliveryWorker({
    ...lane,
    queue: 'deliveries',
    concurrency: config.concurrency,
    process: (id, signal) => processDelivery({ deliveries, makeAttempt, retryPolicy, logger, now, random }, id, signal),
  });
  const testLane = startDeliveryWorker({
    ...lane,
    queue: 'tests',
    concurrency: TEST_LANE_CONCURRENCY,
    process: (id, signal) =>
      processTestEvent(
        {
          ...{ deliveries, makeAttempt, logger, now, deadlineMs: config.deliveryTimeoutMs },
          claim: testEvents.claim,
          reply: (deliveryId, reply) => publishTestReply(redis, deliveryId, reply),
        },
        id,
        signal,
      ),
  });
  return [line, testLane];
}
