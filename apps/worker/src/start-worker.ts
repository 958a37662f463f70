import { randomUUID } from 'node:crypto';
import { addTracing } from '@herald/runtime/tracing/create-tracing';
import { createEgressSender } from '@herald/egress/create-egress';
import { createExposition } from '@herald/store/service-state/create-exposition';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createLossReport } from '@herald/store/shards/create-loss-report';
import { createReadiness } from '@herald/store/readiness/create-readiness';
import { createResources } from '@herald/runtime/lifecycle/resources';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createServiceStateReader } from '@herald/store/service-state/create-service-state-reader';
import { createWorkerPresence, WAIT_CONNECTION } from '@herald/store/service-state/worker-presence';
import { createUpgradeEvents } from '@herald/store/upgrade/create-upgrade-events';
import { demandUsableRedis } from '@herald/store/requirements/demand-usable-redis';
import { registerKeyVersion } from '@herald/store/secrets/register-key-version';
import { logRedisFindings } from '@herald/store/requirements/log-redis-findings';
import { openClock } from '@herald/store/clock/open-clock';
import { openConnections } from '@herald/store/redis/open-connections';
import { openShards } from '@herald/store/upgrade/open-shards';
import { whenIdle } from '@herald/store/scripts/when-idle';
import type { Logger } from '@herald/runtime/log/logger';
import type { RedisClient } from '@herald/store/redis/connect-redis';
import type { RunningProcess } from '@herald/runtime/lifecycle/run-process';
import type { WorkerConfig } from '@herald/config/worker-config';
import { createDeliveryReport } from './deliveries/create-delivery-report.ts';
import { createMakeAttempt } from './deliveries/make-attempt.ts';
import { createSigningKeyCache } from './deliveries/signing-key-cache.ts';
import { startHealthServer } from './health/start-health-server.ts';
import { createWorkerMetrics } from './metrics/create-worker-metrics.ts';
import { startPresence } from './start-presence.ts';
import { startShard } from './start-shard.ts';

/** A worker process: its connections, one queue per shard, maintenance, its health page. */
export async function startWorker(config: WorkerConfig, logger: Logger, giveUp: () => void): Promise<RunningProcess> {
  const resources = createResources((name, error) => {
    logger.error('process.release_failed', { name }, error);
  });
  const metrics = createWorkerMetrics();
  try {
    const connections = openConnections({
      target: config.redis,
      use: 'background',
      metrics: metrics.redis,
      logger,
      giveUp,
    });
    resources.add('connections', connections.close);
    const redis = await connections.open('herald-worker');
    const queueRedis = await connections.open('herald-worker-queue');
    const findings = await demandUsableRedis(redis, {
      target: config.redis,
      minReplicas: 0,
      shardCount: config.shardCount,
      wallClock: Date.now,
    });
    const clock = await openClock({ redis, connections, registry: metrics.registry, logger });
    resources.add('clock', clock.stop);
    const { now } = clock;
    const shards = await openShards({
      redis,
      shardCount: config.shardCount,
      role: 'worker',
      now,
      report: {
        failed: (error) => {
          logger.warn('shards.look_failed', {}, error);
        },
        resharded: ({ code, sentence }) => {
          logger.error('shards.resharded', { code, sentence });
          giveUp();
        },
        // It doesn't end: started again by its supervisor, it would begin with the empty Redis, and nobody would know.
        lost: createLossReport({ logger, metrics: metrics.data }),
        upgrade: createUpgradeEvents(logger),
      },
    });
    resources.add('shards', shards.close);
    const keyspace = createKeyspace(config.shardCount);
    const workerPresence = createWorkerPresence(redis);
    const exposition = createExposition({
      registry: metrics.registry,
      readServiceState: createServiceStateReader({ redis, keyspace, presence: workerPresence, now }),
    });
    const sender = createEgressSender({ ...config.egress, deadlineMs: config.deliveryTimeoutMs }, now);
    resources.add('sender', () => {
      sender.close();
    });
    const cipher = createSecretCipher(config.secretsKeys);
    await registerKeyVersion({ redis, keyspace, cipher, encrypts: false });
    logRedisFindings(logger, findings);
    const signingKeyOf = createSigningKeyCache(cipher.decrypt);
    const makeAttempt = createMakeAttempt({
      send: (request, signal) => sender.send(request, signal),
      signingKeyOf,
      tracing: addTracing(resources, { endpoint: config.traceEndpoint, serviceName: 'herald-worker' }),
      sendsTraceparent: config.sendsTraceparent,
      now,
    });
    const cutOff = new AbortController();
    const report = createDeliveryReport({ logger, ...metrics });
    const served = keyspace.shards
      .map((keys, number) => ({ keys, number }))
      .filter(({ number }) => config.workerShards.includes(number));
    // All connections first: scripts are defined before the first shard uses its own.
    const waiting: RedisClient[] = [];
    while (waiting.length < served.length) waiting.push(await connections.open(WAIT_CONNECTION));
    const running = await whenIdle([redis, queueRedis], () =>
      served.map(({ keys, number }, index) => {
        const waitRedis = waiting[index];
        if (!waitRedis) throw new Error('every shard has a connection of its own');
        const shard = startShard(resources, {
          keys,
          config,
          logger,
          redis,
          queueRedis,
          waitRedis,
          clock,
          makeAttempt,
          report,
          metrics,
          cutOff: cutOff.signal,
        });
        metrics.attempts.watchInFlight(number, shard.inFlight);
        return shard;
      }),
    );
    resources.add('queues', async () => {
      // What is in flight may end by its own deadline; the rest is cut off and put back, no attempt spent.
      const timer = setTimeout(() => {
        cutOff.abort();
      }, config.deliveryTimeoutMs);
      await Promise.all(running.map(({ drain }) => drain()));
      clearTimeout(timer);
    });
    const health = await startHealthServer({
      host: config.host,
      port: config.port,
      readReadiness: createReadiness({
        redis,
        countWorkers: () => workerPresence.count(now()),
        isSilent: () => connections.isSilent(redis, queueRedis),
        skewMs: clock.skewMs,
        findProblem: shards.findProblem,
      }),
      exposition,
    });
    resources.add('health', () => health.close());
    const workerId = randomUUID();
    const presence = await startPresence({ presence: workerPresence, workerId, logger, now });
    resources.add('presence', presence.stop);
    logger.info('worker.started', {
      workerId,
      healthPort: health.port,
      shards: config.workerShards.join(','),
      secretsKeys: cipher.fingerprints.join(','),
    });
    return { stop: resources.release };
  } catch (error) {
    await resources.release();
    throw error;
  }
}
