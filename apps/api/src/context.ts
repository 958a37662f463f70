import type { ApiConfig } from '@herald/config/api-config';
import { createActionUrl } from '@herald/core';
import { createEndpointUrlJudge } from '@herald/egress/judge-url-host';
import type { Finding } from '@herald/runtime/finding';
import type { Resources } from '@herald/runtime/lifecycle';
import type { Logger } from '@herald/runtime/log';
import { addCertificateGauge } from '@herald/runtime/metrics';
import { addTracing } from '@herald/runtime/add-tracing';
import { createApiKeyStore } from '@herald/store/access/api-key-store';
import { createAuditTrail } from '@herald/store/access/audit-trail';
import { createBindingStore } from '@herald/store/access/binding-store';
import { openClock } from '@herald/store/redis/clock';
import { createRedeliver, createDeliveryLog } from '@herald/store/lists/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-record';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { raiseRetention } from '@herald/store/bulk/drop-deliveries';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createFindGroups, createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createPayloadEraser } from '@herald/store/tasks/payload-eraser';
import { createIdempotencyStore } from '@herald/store/access/idempotency-store';
import { createKeyspace } from '@herald/store/keys/keys';
import { createFollow, publishListened, createListenerStore } from '@herald/store/listening/listeners';
import { type RoomDeps, startMemoryGuard } from '@herald/store/stats/memory-guard';
import { createWorkspaceAccounts } from '@herald/store/stats/workspace-accounts';
import { createHistoryMark, findHistoryNotSet } from '@herald/store/lists/history-mark';
import { createReadiness, createUntrustedProxyMark } from '@herald/store/operators/create-readiness';
import { addClockGauge, addFindingGauge, createExposition } from '@herald/store/operators/exposition';
import { findCertificateEnd } from '@herald/store/redis/connect-redis';
import { openConnections } from '@herald/store/redis/open-connections';
import { createReplayOperations, createReplayStore } from '@herald/store/bulk/replay-store';
import { logRedisFindings } from '@herald/store/redis/check-redis';
import { createAwaitReplication } from '@herald/store/redis/await-replication';
import { createScriptCommands } from '@herald/store/redis/script';
import { registerKeyVersion } from '@herald/store/secrets/reencrypt-secrets';
import { createSealHeaders, createSecretCipher } from '@herald/store/secrets/secret-cipher';
import { createServiceStateReader, createWorkerPresence } from '@herald/store/operators/create-service-state-reader';
import { createTaskRetention } from '@herald/store/tasks/task-record';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { createTransitionStore } from '@herald/store/tasks/transition-store';
import { openShards } from '@herald/store/data/open-shards';
import {
  type AcceptTransitions,
  createAcceptReplicated,
  createAcceptTransitions,
  createLookupCache,
  createRecentTasks,
} from './tasks/accept-transitions.ts';
import type { ApiHistory } from './history.ts';
import { createAudit } from './http/create-audit.ts';
import { createUntrustedProxyNote, currentRequestId, withRequestId } from './http/request-state.ts';
import { createPriceLists } from './http/rate-limit.ts';
import { createListeners, createTellListeners } from './listening/create-listeners.ts';
import { createApiMetrics } from './metrics.ts';
import { createOperatorDeps } from './operators/create-operator-pages.ts';
import { createEraseWorkspace } from './platform/erase-workspace.ts';
import { createConsoleDeps } from './portal-links/manage-portal-links.ts';
import { createManageReceivers, limitTestEvents } from './receivers/manage-receivers.ts';
import { createReports } from './report.ts';
import { createErasePayloads, createTaskOperations } from './tasks/task-operations.ts';
import { createManageCallbacks } from './tasks/callbacks.ts';

/** How long a request whose process died blocks its repetition under the same Idempotency-Key, in ms. */
const IDEMPOTENCY_LEASE_MS = 60_000;
const IDEMPOTENCY_KEEP_MS = 86_400_000;
/** Entries of the caches. */
const WORKSPACES_LIMIT = 50_000;
const SUBSCRIPTIONS_LIMIT = 10_000;

/** Everything an API process is made of. Built once; routes take the parts that they need. */
export type AppContext = Awaited<ReturnType<typeof openContext>>;

/**
 * Connects to a Redis that can be used, and builds the stores and operations on it.
 * @throws ConfigError with a sentence that says what to change, or the error of a Redis that has gone away
 */
export async function openContext(options: ContextOptions) {
  return buildContext(options, await openBase(options));
}

/** Builds the stores and operations. Of I/O, only the looks at the memory begin. */
function buildContext({ config, resources, ...options }: ContextOptions, base: Awaited<ReturnType<typeof openBase>>) {
  const { metrics, redis, subscriber, replicationRedis, operatorRedis, isSilent, clock, shards, keyspace } = base;
  const { cipher, history } = base;
  const { now } = clock;
  const logger = withRequestId(options.logger);
  const reports = createReports(logger, metrics);
  const accounts = createWorkspaceAccounts({ redis, keyspace, now });
  const memoryGuard = startMemoryGuard({ redis, keyspace, accounts });
  resources.add('memory guard', memoryGuard.stop);
  const ofRoom = { limits: config.workspaceLimits, findRefusal: memoryGuard.findRefusal };
  const taskRetention = createTaskRetention(config.taskRetentionMs);
  const deliveryRetention = createDeliveryRetention(config.retentionMs, config.history !== undefined);
  const findUrlProblem = createEndpointUrlJudge(config);
  const awaitReplication =
    replicationRedis && createAwaitReplication({ redis: replicationRedis, minReplicas: config.minReplicas });
  const replicated = { redis, awaitReplication, keyspace };
  const presence = createWorkerPresence(redis);
  const readServiceState = operatorRedis && createServiceStateReader({ redis: operatorRedis, keyspace, presence, now });
  const { proxyCount } = config;
  const untrustedProxy = createUntrustedProxyNote({ proxyCount, mark: createUntrustedProxyMark(redis), logger, now });

  const receiverStore = createReceiverStore(replicated);
  const sealHeaders = createSealHeaders(cipher.encrypt);
  const ofEndpoints = { sealHeaders, findUrlProblem, metrics: metrics.deliveries, now };
  const receivers = createManageReceivers({
    ...ofEndpoints,
    receivers: receiverStore,
    encryptSecret: cipher.encrypt,
    findGroups: createFindGroups({ redis, keyspace, now }),
  });
  const callbacks = createManageCallbacks({ ...ofEndpoints, callbacks: createCallbackStore(replicated) });

  const taskStore = createTaskStore({ ...replicated, retention: taskRetention, ...ofRoom, now });
  const tasks = createTaskOperations({
    tasks: taskStore,
    encryptSecret: cipher.encrypt,
    sealHeaders,
    findUrlProblem,
    now,
  });

  // The workspace of a Task never changes. If the Task is gone, the store knows.
  const { find: findTaskWorkspace } = createLookupCache(WORKSPACES_LIMIT, taskStore.findWorkspace);
  const accepting = {
    findTaskWorkspace,
    subscriptions: createLookupCache(SUBSCRIPTIONS_LIMIT, receiverStore.findSubscriptions),
    tellListeners: createTellListeners({
      publish: (workspaceId, event) => publishListened(redis, workspaceId, event),
      metrics: metrics.listening,
      logger,
    }),
    report: reports.transitions,
    requestId: currentRequestId,
    actionUrl: createActionUrl(config.actionUrlTemplate),
    now,
  };
  const createAccept = (room: RoomDeps): AcceptTransitions => {
    const transitions = createTransitionStore({ redis, keyspace, taskRetention, deliveryRetention, ...room, now });
    const acceptHere = createAcceptTransitions({ ...accepting, transitions, recentTasks: createRecentTasks() });
    return awaitReplication
      ? createAcceptReplicated({ acceptTransitions: acceptHere, findTaskWorkspace, awaitReplication, keyspace, logger })
      : acceptHere;
  };
  const acceptTransitions = createAccept(ofRoom);

  const readReadiness = createReadiness({
    redis,
    countWorkers: () => presence.count(now()),
    isSilent,
    skewMs: clock.skewMs,
    findProblem: shards.findProblem,
    findWarnings: async () => {
      const ofHistory = await (history ? history.findProblem() : findHistoryNotSet(base.historyMark));
      return [untrustedProxy.findWarning(), ofHistory].filter((found) => found !== undefined);
    },
  });

  addFindingGauge(metrics.registry, readReadiness);

  const erasePayloads = createErasePayloads({
    eraser: createPayloadEraser({ ...replicated, retention: deliveryRetention, history }),
    report: reports.payloadsErased,
    now,
  });
  const apiKeys = createApiKeyStore({ ...replicated, now });
  const bindings = createBindingStore({ ...replicated, now });
  const consoleDeps = createConsoleDeps({ ...replicated, config, logger, now });
  const deliveryLog = createDeliveryLog({ ...replicated, ...ofRoom, history });
  const deliveryStores = new Map(
    keyspace.shards.map((keys) => [keys, createDeliveryStore({ redis, keys, retention: deliveryRetention })]),
  );

  return {
    config,
    resources,
    logger,
    metrics,
    now,
    isSilent,
    shards,
    keyspace,
    untrustedProxy,
    keyFingerprints: cipher.fingerprints,
    tracing: base.tracing,
    audit: createAudit(createAuditTrail({ ...replicated, length: config.auditLength, now }), logger),
    apiKeys,
    bindings,
    eraseWorkspace: createEraseWorkspace({
      ...{ apiKeys, bindings, receivers, erasePayloads, history, logger },
      // Canceling adds a little, and erasing frees much more.
      acceptTransitions: createAccept({}),
      portalLinks: consoleDeps.portalLinkStore,
      tasks: taskStore,
    }),
    ...consoleDeps,
    /** For the scripts that count the requests of an API key. */
    sendRateLimitCommand: createScriptCommands(redis),
    idempotencyRecords: createIdempotencyStore({
      ...replicated,
      ...ofRoom,
      now,
      leaseMs: IDEMPOTENCY_LEASE_MS,
      keepMs: IDEMPOTENCY_KEEP_MS,
    }),
    readReadiness,
    receivers,
    callbacks,
    tasks,
    erasePayloads,
    acceptTransitions,
    listeners: createListeners({
      store: createListenerStore({ redis, keyspace }),
      follow: createFollow(subscriber),
      metrics: metrics.listening,
      logger,
      now,
    }),
    deliveryLog,
    readPriced: createPriceLists(redis, config.rateLimit),
    redeliver: createRedeliver({ log: deliveryLog, report: reports.redeliveries, now }),
    replays: createReplayOperations({
      replays: createReplayStore({ ...replicated, keepMs: config.replayRetentionMs }),
      onRequested: reports.replayRequested,
      now,
    }),
    sendTestEvent: limitTestEvents(
      createSendTestEvent({
        findReceiver: receivers.find,
        countWorkers: presence.count,
        testEvents: createTestEventStore({ redis, keyspace, retention: deliveryRetention, ...ofRoom }),
        cancel: async (workspaceId, id, at) => {
          const store = deliveryStores.get(keyspace.of(workspaceId));
          if (!store) throw new Error('every workspace has its shard');
          return await store.cancel(id, 'not_sent_in_time', at);
        },
        listenForReplies: createTestReplyListener(subscriber),
        report: reports.testEvents,
        now,
      }),
    ),
    /** What `/metrics` shows. Absent: it isn't there. */
    exposition: readServiceState && createExposition(metrics.registry, readServiceState),
    /** Absent: there are no operator pages. */
    operators:
      config.operator &&
      operatorRedis &&
      readServiceState &&
      createOperatorDeps({
        operator: config.operator,
        readReadiness,
        redis: operatorRedis,
        keyspace,
        length: config.auditLength,
        keepMs: config.retentionMs,
        readServiceState,
        history,
        now,
      }),
  };
}

type ContextOptions = {
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
async function openBase({ config, logger, resources, giveUp, weaknesses }: ContextOptions) {
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
  const clock = await openClock(redis, connections, logger);
  addClockGauge(metrics.registry, clock.skewMs);
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
    const { openHistory } = await import('./history.ts');
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
