import type { ApiConfig } from '@herald/config/api-config';
import type { Finding } from '@herald/runtime/findings/finding';
import { addCertificateGauge } from '@herald/runtime/metrics/add-certificate-gauge';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { Logger } from '@herald/runtime/log/logger';
import { addTracing } from '@herald/runtime/tracing/add-tracing';
import { openClock } from '@herald/store/clock/open-clock';
import { createKeyspace } from '@herald/store/keyspace/keys';
import { createHistoryMark, findHistoryNotSet } from '@herald/store/moving/history-mark';
import { findCertificateEnd } from '@herald/store/redis/connect-redis';
import { openConnections } from '@herald/store/redis/open-connections';
import { logRedisFindings } from '@herald/store/requirements/demand-usable-redis';
import { registerKeyVersion } from '@herald/store/secrets/register-key-version';
import { createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { raiseRetention } from '@herald/store/deliveries/drop-deliveries';
import { openShards } from '@herald/store/upgrade/open-shards';
import type { ApiHistory } from './history/open-history.ts';
import { createApiMetrics } from './reports/create-api-metrics.ts';

export type ContextOptions = {
  readonly config: ApiConfig;
  readonly logger: Logger;
  /** Gets everything that must be closed, in the order in which it was opened. */
  readonly resources: Resources;
  /** Ends the process, because a connection does not recover although Redis is there. */
  readonly giveUp: () => void;
  /** Of this Redis, to be logged. */
  readonly weaknesses: readonly Finding[];
};

/** Opens what needs I/O: connections, clock, shards and key versions. */
export async function openBase({ config, logger, resources, giveUp, weaknesses }: ContextOptions) {
  const metrics = createApiMetrics();
  const target = config.redis;
  const connections = openConnections({ target, use: 'request', metrics: metrics.redis, logger, giveUp });
  resources.add('connections', connections.close);
  const redis = await connections.open('herald-api');
  const subscriber = await connections.open('herald-api-subscriber', 'subscriptions');
  // It waits for replicas, so it must be apart. Metrics and CLIENT LIST show this name.
  const replicationRedis = config.minReplicas > 0 ? await connections.open('herald-api-confirm') : undefined;
  // Apart, so that no page of the board delays a request.
  const isForOperators = config.operator !== undefined || config.metricsToken !== undefined;
  const operatorRedis = isForOperators ? await connections.open('herald-api-operators') : undefined;
  const { shardCount } = config;
  addCertificateGauge(metrics.registry, { redis: () => findCertificateEnd(redis) });
  const clock = await openClock(redis, connections, metrics.registry, logger);
  resources.add('clock', clock.stop);
  const shards = await openShards({
    redis,
    shardCount,
    role: 'api',
    now: clock.now,
    logger,
    metrics: metrics.data,
  });
  resources.add('shards', shards.close);
  await raiseRetention(redis, createDeliveryRetention(config.retentionMs, config.history !== undefined));
  const keyspace = createKeyspace(shardCount);
  const cipher = createSecretCipher(config.secretsKeys);
  await registerKeyVersion({ redis, keyspace, cipher, encrypts: true });
  logRedisFindings(logger, weaknesses);
  const historyMark = createHistoryMark({ redis, keyspace });
  let history: ApiHistory | undefined;
  if (config.history) {
    // Without a history the client of PostgreSQL isn't loaded.
    const { openHistory } = await import('./history/open-history.ts');
    history = await openHistory({
      config: config.history,
      readUser: async () => ({ dataId: shards.dataId, historyId: await historyMark.read() }),
      logger,
      resources,
      countUnavailable: () => {
        metrics.history.unavailable({});
      },
      now: clock.now,
    });
  } else if (await findHistoryNotSet(historyMark)) logger.warn('history.not_set');
  return {
    metrics,
    redis,
    subscriber,
    replicationRedis,
    operatorRedis,
    isSilent: () => connections.isSilent(redis),
    clock,
    shards,
    keyspace,
    cipher,
    /** Undefined: settled deliveries expire. */
    history,
    historyMark,
    tracing: await addTracing(resources, { endpoint: config.traceEndpoint, serviceName: 'herald-api' }),
  };
}
