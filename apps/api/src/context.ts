import { createActionUrl } from '@herald/core';
import { createEndpointUrlJudge } from '@herald/egress/judge-url-host';
import { createAuditTrail } from '@herald/store/audit/audit-trail';
import { createBindingStore } from '@herald/store/bindings/binding-store';
import { createApiKeyStore } from '@herald/store/api-keys/api-key-store';
import { createDeliveryLog } from '@herald/store/deliveries/delivery-log';
import { createDeliveryRetention } from '@herald/store/deliveries/delivery-retention';
import { createDeliveryStore } from '@herald/store/deliveries/delivery-store';
import { createRedeliver } from '@herald/store/deliveries/create-redeliver';
import { createPayloadEraser } from '@herald/store/erasing/payload-eraser';
import { createFindGroups } from '@herald/store/endpoints/find-groups';
import { createCallbackStore } from '@herald/store/endpoints/callback-store';
import { createReceiverStore } from '@herald/store/endpoints/receiver-store';
import { createIdempotencyStore } from '@herald/store/idempotency/idempotency-store';
import { createFollow, publishListened } from '@herald/store/listening/listen-channel';
import { createListenerStore } from '@herald/store/listening/listener-store';
import { startMemoryGuard, type RoomDeps } from '@herald/store/memory/memory-guard';
import { createWorkspaceAccounts } from '@herald/store/memory/workspace-accounts';
import { findHistoryNotSet } from '@herald/store/moving/history-mark';
import { addFindingGauge } from '@herald/store/readiness/add-finding-gauge';
import { createReadiness } from '@herald/store/readiness/create-readiness';
import { createUntrustedProxyMark } from '@herald/store/readiness/untrusted-proxy';
import { createReplayOperations } from '@herald/store/replays/create-replay-operations';
import { createReplayStore } from '@herald/store/replays/replay-store';
import { createAwaitReplication } from '@herald/store/scripts/await-replication';
import { createScriptCommands } from '@herald/store/scripts/script-commands';
import { createSealHeaders } from '@herald/store/secrets/sealed-headers';
import { createExposition } from '@herald/store/service-state/create-exposition';
import { createServiceStateReader } from '@herald/store/service-state/create-service-state-reader';
import { createWorkerPresence } from '@herald/store/service-state/worker-presence';
import { createTaskRetention } from '@herald/store/tasks/task-retention';
import { createTaskStore } from '@herald/store/tasks/task-store';
import { createSendTestEvent } from '@herald/store/test-events/send-test-event';
import { createTestEventStore } from '@herald/store/test-events/test-event-store';
import { createTestReplyListener } from '@herald/store/test-events/test-replies';
import { createTransitionStore } from '@herald/store/transitions/transition-store';
import { createAcceptReplicated } from './acceptance/accept-replicated.ts';
import { createAcceptTransitions, type AcceptTransitions } from './acceptance/accept-transitions.ts';
import { createLookupCache } from './acceptance/lookup-cache.ts';
import { createRecentTasks } from './acceptance/recent-tasks.ts';
import { openBase, type ContextOptions } from './open-base.ts';
import { createUntrustedProxyNote } from './http/note-untrusted-proxy.ts';
import { currentRequestId, withRequestId } from './http/request-state.ts';
import { createManageReceivers, limitTestEvents } from './receivers/manage-receivers.ts';
import { createListeners, createTellListeners } from './listening/create-listeners.ts';
import { createPriceLists } from './http/price-lists.ts';
import { createOperatorDeps } from './operators/create-operator-pages.ts';
import { createConsoleDeps } from './portal-links/manage-portal-links.ts';
import { createAudit } from './http/create-audit.ts';
import { createEraseWorkspace } from './platform/erase-workspace.ts';
import { createReports } from './reports/create-reports.ts';
import { createManageCallbacks } from './tasks/manage-callbacks.ts';
import { createErasePayloads } from './tasks/erase-payloads.ts';
import { createTaskOperations } from './tasks/task-operations.ts';

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
  const memoryGuard = startMemoryGuard({ redis, accounts });
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
      redis,
      awaitReplication,
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
