import type { NoticeConfig, WorkerConfig } from '@herald/config/worker-config';
import { PLATFORM } from '@herald/core';
import type { Finding } from '@herald/runtime/finding';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import { addCertificateGauge } from '@herald/runtime/metrics';
import { addTracing } from '@herald/runtime/add-tracing';
import { openClock } from '@herald/store/redis/clock';
import type { EndpointRecord } from '@herald/store/endpoints/endpoint-record';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { raiseRetention } from '@herald/store/bulk/drop-deliveries';
import { createKeyspace } from '@herald/store/keys/keys';
import { createHistoryMark, findHistoryNotSet } from '@herald/store/lists/history-mark';
import { createShardRecordStore } from '@herald/store/data/shard-record';
import { openConnections } from '@herald/store/redis/open-connections';
import { logRedisFindings } from '@herald/store/redis/check-redis';
import { registerKeyVersion } from '@herald/store/secrets/reencrypt-secrets';
import { createSecretCipher, openHeaders, type SecretCipher } from '@herald/store/secrets/secret-cipher';
import { createServiceStateReader, createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { addClockGauge, createExposition } from '@herald/store/operators/exposition';
import { startMemoryGuard } from '@herald/store/stats/memory-guard';
import { createWorkspaceAccounts } from '@herald/store/stats/workspace-accounts';
import { findCertificateEnd } from '@herald/store/redis/connect-redis';
import { findTrustEnd } from '@herald/egress/create-trust';
import { openShards } from '@herald/store/data/open-shards';
import { createDecryptedCache, createMakeAttempt, createSigningKeyCache } from './deliver.ts';
import { openEgress } from './egress.ts';
import type { WorkerHistory } from './history.ts';
import { createOnFailed } from './maintenance.ts';
import { createWorkerMetrics } from './metrics.ts';
import { createDeliveryReport } from './report.ts';

/** The objects that all parts of a worker process share. */
export type WorkerContext = Awaited<ReturnType<typeof openContext>>;

export type ContextOptions = {
  readonly config: WorkerConfig;
  readonly logger: Logger;
  /** Gets everything that must be closed, in the order in which it was opened. */
  readonly resources: Resources;
  /** Ends the process when it can't recover. */
  readonly giveUp: () => void;
  /** Of this Redis, to be logged. */
  readonly weaknesses: readonly Finding[];
};

/**
 * Connects to a Redis that can be used, makes sure that this process may work on its data, and creates the sender and
 * the report.
 * @throws ConfigError or a Redis error when the worker can't start
 */
export async function openContext({ config, logger, resources, giveUp, weaknesses }: ContextOptions) {
  const metrics = createWorkerMetrics();
  const cutOff = new AbortController();
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
  const caEnd = config.egress.caPem === undefined ? undefined : findTrustEnd(config.egress.caPem);
  addCertificateGauge(metrics.registry, { redis: () => findCertificateEnd(redis), egress_ca: () => caEnd });
  const clock = await openClock(redis, connections, logger);
  addClockGauge(metrics.registry, clock.skewMs);
  resources.add('clock', clock.stop);
  const { now } = clock;
  const shards = await openShards({
    redis,
    shardCount: config.shardCount,
    role: 'worker',
    now,
    logger,
    metrics: metrics.data,
    // The process goes on when the data vanishes: its supervisor would start it again on the empty Redis, and hide the loss.
    onResharded: giveUp,
  });
  resources.add('shards', shards.close);
  await raiseRetention(redis, createDeliveryRetention(config.retentionMs, config.history !== undefined));
  const keyspace = createKeyspace(config.shardCount);
  const presence = createWorkerPresence(redis);
  const memoryGuard = startMemoryGuard({
    redis,
    keyspace,
    accounts: createWorkspaceAccounts({ redis, keyspace, now }),
  });
  resources.add('memory guard', memoryGuard.stop);
  const readServiceState = createServiceStateReader({ redis, keyspace, presence, now });
  const exposition = createExposition(metrics.registry, readServiceState);
  const egress = openEgress({ config, logger, registry: metrics.registry });
  resources.add('egress', egress.close);
  const cipher = createSecretCipher(config.secretsKeys);
  await registerKeyVersion({ redis, keyspace, cipher, encrypts: false });
  logRedisFindings(logger, weaknesses);
  const historyMark = createHistoryMark({ redis, keyspace });
  let history: WorkerHistory | undefined;
  if (config.history) {
    // Without a history the client of PostgreSQL isn't loaded.
    const { openHistory } = await import('./history.ts');
    history = await openHistory({
      config: config.history,
      settledForMs: config.retentionMs,
      dataId: shards.dataId,
      mark: historyMark,
      records: createShardRecordStore(redis),
      logger,
      registry: metrics.registry,
      resources,
      cutOff: cutOff.signal,
      now,
    });
  } else if (await findHistoryNotSet(historyMark)) logger.warn('history.not_set');
  const makeAttempt = createMakeAttempt({
    send: egress.send,
    signingKeyOf: createSigningKeyCache(cipher.decrypt),
    ownHeadersOf: createDecryptedCache((encrypted, endpointId) => openHeaders(cipher.decrypt, encrypted, endpointId)),
    tracing: await addTracing(resources, { endpoint: config.traceEndpoint, serviceName: 'herald-worker' }),
    sendsTraceparent: config.sendsTraceparent,
    now,
  });
  const report = createDeliveryReport({ logger, ...metrics });
  resources.add('report', report.close);
  return {
    config,
    logger,
    resources,
    metrics,
    connections,
    redis,
    /** The connection of the queue's scripts. */
    queueRedis,
    clock,
    now,
    shards,
    keyspace,
    presence,
    /** What bounds what replays add. */
    ofRoom: { limits: config.workspaceLimits, findRefusal: memoryGuard.findRefusal },
    exposition,
    cipher,
    makeAttempt,
    /** Undefined: settled deliveries expire, unless the data has a history. */
    history,
    historyMark,
    egress,
    platform: config.notices && createPlatform(config.notices, cipher.encrypt),
    /** Of maintenance. */
    onFailed: createOnFailed(metrics.internalErrors, logger),
    report,
    /** Cuts off what is under way: sends, and statements to the history. */
    cutOff,
  };
}

/** The endpoint of notices, as if it were a record. Its secret is encrypted like all others, so that one path signs. */
export function createPlatform({ url, secret }: NoticeConfig, encryptSecret: SecretCipher['encrypt']): EndpointRecord {
  return {
    id: PLATFORM,
    workspaceId: PLATFORM,
    url,
    events: [],
    description: '',
    enabled: true,
    createdAt: 0,
    origin: PLATFORM,
    group: PLATFORM,
    encryptedSecret: encryptSecret(secret, PLATFORM),
    health: { consecutiveFailures: 0 },
  };
}
