import { createActionUrl } from '@herald/core';
import { addTracing } from '@herald/runtime/tracing/create-tracing';
import type { ApiConfig } from '@herald/config/api-config';
import { createApiKeyStore } from '@herald/store/api-keys/api-key-store';
import { createIdempotencyStore } from '@herald/store/idempotency/idempotency-store';
import { createDeliveryLog } from '@herald/store/deliveries/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createFindDestinations } from '@herald/store/endpoints/find-destinations';
import { createEndpointUrlJudge } from '@herald/egress/create-egress';
import { createExposition } from '@herald/store/service-state/create-exposition';
import { createReadiness } from '@herald/store/readiness/create-readiness';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createRedeliver } from '@herald/store/deliveries/create-redeliver';
import { createReplayOperations } from '@herald/store/replays/create-replay-operations';
import { createReplayStore } from '@herald/store/replays/replay-store';
import { createScriptCommands } from '@herald/store/scripts/script-commands';
import { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { createServiceStateReader } from '@herald/store/service-state/create-service-state-reader';
import { createTaskRetention } from '@herald/store/tasks/task-retention';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { createTransitionStore } from '@herald/store/transitions/transition-store';
import { createWorkerPresence } from '@herald/store/service-state/worker-presence';
import { createAwaitReplication } from '@herald/store/scripts/await-replication';
import { GLOBAL_KEYS, type Keyspace } from '@herald/store/keyspace/keys';
import type { Clock } from '@herald/store/clock/clock';
import type { Logger } from '@herald/runtime/log/logger';
import type { OpenShards } from '@herald/store/upgrade/open-shards';
import type { Resources } from '@herald/runtime/lifecycle/resources';
import type { SecretCipher } from '@herald/store/secrets/secret-cipher';
import { createAuthenticate } from './auth/authenticate.ts';
import { createFailureLimiter } from './auth/failure-limiter.ts';
import { createNoteKeyUse } from './auth/note-key-use.ts';
import { createApp } from './create-app.ts';
import { createDeliveryRoutes } from './deliveries/delivery-routes.ts';
import { createManageDeliveries } from './deliveries/manage-deliveries.ts';
import { createRedeliveryReport } from './deliveries/create-redelivery-report.ts';
import { createHealthRoutes } from './health/health-routes.ts';
import { BATCH_BODY_LIMIT_BYTES, BODY_LIMIT_BYTES, parseJson } from './http/parse-json.ts';
import { createIdempotency } from './idempotency/create-idempotency.ts';
import { createDocumentRoutes } from './openapi/document/document-routes.ts';
import { createBodyLimit } from './rate-limit/limit-bodies.ts';
import { createRateLimit } from './rate-limit/create-rate-limit.ts';
import { createReshardedRefusal } from './http/refuse-resharded.ts';
import { createSilenceRefusal } from './http/refuse-silence.ts';
import { currentRequestId } from './http/request-id.ts';
import { createMetricsRoutes } from './health/metrics-routes.ts';
import type { ApiMetrics } from './create-api-metrics.ts';
import { createOperatorPages } from './operators/create-operator-pages.ts';
import { createManageReceivers } from './receivers/manage-receivers.ts';
import { createReceiverRoutes } from './receivers/receiver-routes.ts';
import { limitTestEvents } from './receivers/limit-test-events.ts';
import { createTestEventReport } from './receivers/create-test-event-report.ts';
import { createReplayRoutes } from './replays/replay-routes.ts';
import { createTaskOperations } from './tasks/task-operations.ts';
import { createTaskRoutes } from './tasks/task-routes.ts';
import { createAcceptTransitions } from './acceptance/accept-transitions.ts';
import { createAcceptanceReport } from './acceptance/create-acceptance-report.ts';
import { createAcceptReplicated } from './acceptance/accept-replicated.ts';
import { createSubscriptionCache } from './acceptance/subscription-cache.ts';
import { createRecentTasks } from './acceptance/recent-tasks.ts';
import { createWorkspaceCache } from './acceptance/workspace-cache.ts';
import { createTransitionRoutes } from './tasks/transition-routes.ts';
import type { ApiConnections } from './connect-api.ts';

/** Failed authentications of one address that are answered with 401; a guess at 190 bits needs no tighter bound. */
const KEY_FAILURES_PER_MINUTE = 120;
/** Of one workspace key's unfinished requests: 128 of the largest, and many thousands of the usual size. */
const BODIES_LIMIT_BYTES = 128 * BODY_LIMIT_BYTES;
/** How long a request with an Idempotency-Key blocks its repetition when its process dies, and how long a key is kept, in ms. */
const IDEMPOTENCY_LEASE_MS = 60_000;
const IDEMPOTENCY_KEEP_MS = 86_400_000;

/** Builds the app of its stores and operations. No I/O. */
export function composeApp(
  config: ApiConfig,
  logger: Logger,
  resources: Resources,
  connections: ApiConnections,
  keyspace: Keyspace,
  encryptSecret: SecretCipher['encrypt'],
  metrics: ApiMetrics,
  openShards: Pick<OpenShards, 'findProblem' | 'makeSure'>,
  { clock, isSilent }: { readonly clock: Clock; readonly isSilent: () => boolean },
) {
  const { redis, subscriber, replicationRedis, operatorRedis } = connections;
  const { now } = clock;
  const taskRetention = createTaskRetention(config.taskRetentionMs);
  const deliveryRetention = createDeliveryRetention(config.retentionMs);
  const awaitReplication =
    replicationRedis && createAwaitReplication({ redis: replicationRedis, minReplicas: config.minReplicas });
  const receiverStore = createReceiverStore({ redis, awaitReplication, keyspace });
  const taskStore = createTaskStore({ redis, awaitReplication, keyspace, retention: taskRetention });
  const testEvents = createTestEventStore({ redis, keyspace, retention: deliveryRetention });
  const presence = createWorkerPresence(redis);
  const findUrlProblem = createEndpointUrlJudge(config.allowCidrs);

  const shards = new Map(
    keyspace.shards.map((keys) => {
      const deliveries = createDeliveryStore({ redis, keys, retention: deliveryRetention });
      return [keys, { deliveries }];
    }),
  );
  const shardOf = (workspaceId: string) => {
    const shard = shards.get(keyspace.of(workspaceId));
    if (!shard) throw new Error('every workspace has its shard');
    return shard;
  };

  const receivers = createManageReceivers({
    receivers: receiverStore,
    encryptSecret,
    findUrlProblem,
    metrics: metrics.deliveries,
    logger,
    now,
    findDestinations: createFindDestinations({ redis, keyspace, now }),
  });
  const tasks = createTaskOperations({ tasks: taskStore, encryptSecret, findUrlProblem, now });
  const report = createAcceptanceReport({ logger, ...metrics });
  const findTaskWorkspace = createWorkspaceCache(taskStore.findWorkspace);
  const acceptHere = createAcceptTransitions({
    findTaskWorkspace,
    transitions: createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention, now }),
    recentTasks: createRecentTasks(),
    subscriptions: createSubscriptionCache(receiverStore.findSubscriptions),
    report,
    requestId: currentRequestId,
    actionUrl: createActionUrl(config.actionUrlTemplate),
    now,
  });
  const acceptTransitions = awaitReplication
    ? createAcceptReplicated({ acceptTransitions: acceptHere, findTaskWorkspace, awaitReplication, keyspace, logger })
    : acceptHere;
  const sendTestEvent = limitTestEvents(
    createSendTestEvent({
      findReceiver: receivers.find,
      countWorkers: presence.count,
      testEvents,
      cancel: (workspaceId, id, at) => shardOf(workspaceId).deliveries.cancel(id, 'not_sent_in_time', at),
      listenForReplies: createTestReplyListener(subscriber),
      report: createTestEventReport({ logger, ...metrics }),
      now,
    }),
  );

  const log = createDeliveryLog({ redis, awaitReplication, keyspace });
  const deliveries = createManageDeliveries({
    log,
    findReceiver: receivers.find,
    findTask: tasks.find,
    redeliver: createRedeliver({
      log,
      report: createRedeliveryReport({ logger, ...metrics }),
      now,
    }),
  });
  const replays = createReplayOperations({
    replays: createReplayStore({ redis, awaitReplication, keyspace, keepMs: config.retentionMs }),
    onRequested: ({ id, endpointId }, workspaceId) => {
      metrics.acceptance.replayRequested();
      logger.info('replay.requested', { replayId: id, endpointId, workspaceId });
    },
    now,
  });

  const { find: findKey, writeLastUse } = createApiKeyStore({ redis, now });
  const idempotencyRecords = createIdempotencyStore({
    redis,
    awaitReplication,
    now,
    leaseMs: IDEMPOTENCY_LEASE_MS,
    keepMs: IDEMPOTENCY_KEEP_MS,
  });
  const idempotency = createIdempotency({ records: idempotencyRecords, logger });
  const parseSingle = [...parseJson(BODY_LIMIT_BYTES), idempotency];
  const parseBatch = [...parseJson(BATCH_BODY_LIMIT_BYTES, 'transitions'), idempotency];
  return createApp({
    logger,
    requestMetrics: metrics.requests,
    tracing: addTracing(resources, { endpoint: config.traceEndpoint, serviceName: 'herald-api' }),
    authenticate: createAuthenticate({
      findKey,
      failures: createFailureLimiter({ limit: KEY_FAILURES_PER_MINUTE, windowMs: 60_000, now }),
      noteUse: createNoteKeyUse({ writeLastUse, logger, now }),
    }),
    limitRate: createRateLimit({
      perSecond: config.rateLimit,
      sendCommand: createScriptCommands(redis, 'rateLimit'),
      keyOf: GLOBAL_KEYS.apiKeyRate,
    }),
    limitBodies: createBodyLimit(BODIES_LIMIT_BYTES),
    proxyCount: config.proxyCount,
    idempotency,
    health: createHealthRoutes({
      readReadiness: createReadiness({
        redis,
        countWorkers: () => presence.count(now()),
        isSilent,
        skewMs: clock.skewMs,
        findProblem: openShards.findProblem,
      }),
    }),
    refuseSilence: createSilenceRefusal(isSilent),
    refuseResharded: createReshardedRefusal(openShards),
    document: createDocumentRoutes(),
    receivers: createReceiverRoutes({ receivers, deliveries, replays, sendTestEvent }),
    deliveries: createDeliveryRoutes({ deliveries }),
    replays: createReplayRoutes({ replays }),
    tasks: createTaskRoutes({ tasks, acceptTransitions, deliveries, rotateSecret: receivers.rotateSecret }),
    executor: createTransitionRoutes({ acceptTransitions, tasks, parseSingle, parseBatch }),
    operators:
      config.operator &&
      operatorRedis &&
      createOperatorPages({
        operator: config.operator,
        redis: operatorRedis,
        keyspace,
        retentionMs: config.retentionMs,
        attemptNow: (workspaceId, id) => deliveries.redeliver(workspaceId, id),
        resources,
        logger,
        now,
        metrics: createMetricsRoutes(
          createExposition(
            metrics.registry,
            createServiceStateReader({ redis: operatorRedis, keyspace, presence, now }),
          ),
        ),
      }),
  });
}
