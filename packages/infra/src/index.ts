export { SCOPES, createApiKeyStore, type ApiKey, type ApiKeyStore, type Scope } from './api-keys/api-key-store.ts';
export { type Clock } from './clock/clock.ts';
export { openClock } from './clock/open-clock.ts';
export { startClock, type RunningClock } from './clock/start-clock.ts';
export { addTracing } from './tracing/add-tracing.ts';
export type { Tracing, TraceSpan } from './tracing/create-tracing.ts';
export {
  ConfigError,
  Duration,
  DurationList,
  IntegerText,
  Port,
  readEnv,
  RetentionEnv,
  SecretsEnv,
  SharedEnv,
} from './config/env.ts';
export { readApiConfig, type ApiConfig } from './config/api-config.ts';
export { type OperatorConfig } from './config/operator-env.ts';
export { readWorkerConfig, type WorkerConfig } from './config/worker-config.ts';
export { createRedeliver, type Redeliver, type RedeliveryReport } from './deliveries/create-redeliver.ts';
export { toRedisTarget, withOneRedis } from './config/redis-env.ts';
export { type AttemptRecord, type LoadedDelivery, type LoadReply } from './deliveries/delivery-record.ts';
export { createDeliveryRetention } from './deliveries/delivery-retention.ts';
export {
  createDeliveryStore,
  type CancelReason,
  type DeliveryStore,
  type EndReply,
  type RecordReply,
} from './deliveries/delivery-store.ts';
export { isTestGroup, TEST_GROUP } from './deliveries/test-group.ts';
export {
  createDeliveryLog,
  type DeliveryCursor,
  type DeliveryLog,
  type DeliveryPage,
  type RedeliverReply,
} from './deliveries/delivery-log.ts';
export {
  createDestinationView,
  type DestinationDescription,
  type DestinationView,
} from './operators/destination-view.ts';
export { describeDeliveries, type DeliveryDescription } from './operators/describe-deliveries.ts';
export { createFailedView, type FailedView } from './operators/failed-view.ts';
export { readAttempts } from './operators/read-attempts.ts';
export { createOwnerLookUp, type OwnerLookUp } from './operators/owner-look-up.ts';
export { walkReceivers } from './operators/walk-receivers.ts';
export { readPurgeMark } from './purges/purge-mark.ts';
export { createPurgeStore, type PurgedDelivery, type PurgeStore } from './purges/purge-store.ts';
export { createReplayOperations, type ReplayOperations } from './replays/create-replay-operations.ts';
export { createReplaySteps, type ReplaySteps } from './replays/replay-steps.ts';
export { createReplayStore, type Replay, type ReplayStore } from './replays/replay-store.ts';
export { createEgressSender, createEndpointUrlJudge } from './egress/create-egress.ts';
export { DestinationEnv, EgressEnv } from './egress/egress-env.ts';
export { judgeEndpointHealth, type EndpointState } from './endpoints/judge-endpoint-health.ts';
export { type EndpointHealth, type EndpointRecord } from './endpoints/endpoint-record.ts';
export {
  createFindDestinations,
  type DestinationHealth,
  type FindDestinations,
} from './endpoints/find-destinations.ts';
export { createReceiverStore, type ReceiverStore, type Subscriptions } from './endpoints/receiver-store.ts';
export {
  createClaimStore,
  type Claim,
  type ClaimStore,
  type KeptAnswer,
  type RequestName,
} from './idempotency/claim-store.ts';
export { type Finding } from './health/finding.ts';
export { createRedisProbe } from './health/create-redis-probe.ts';
export { createReadiness, type Readiness } from './health/create-readiness.ts';
export { messageOfThrown } from './lifecycle/is-error-like.ts';
export { createBoundedMap } from './lifecycle/bounded-map.ts';
export { createResources, type Resources } from './lifecycle/resources.ts';
export { runProcess, type RunningProcess } from './lifecycle/run-process.ts';
export { createLogger, LOG_LEVELS, type LogFields, type Logger } from './log/logger.ts';
export { createAcceptanceMetrics, type AcceptanceMetrics } from './metrics/create-acceptance-metrics.ts';
export { createAttemptMetrics, type AttemptMetrics } from './metrics/create-attempt-metrics.ts';
export { createDataMetrics, type DataMetrics } from './metrics/create-data-metrics.ts';
export { createDeliveryMetrics, type DeliveryMetrics } from './metrics/create-delivery-metrics.ts';
export { createExposition, type Exposition } from './metrics/create-exposition.ts';
export { createMetricsRegistry, type MetricsRegistry } from './metrics/create-metrics-registry.ts';
export { createRedisMetrics, type RedisMetrics } from './metrics/create-redis-metrics.ts';
export { createRequestMetrics, type RequestMetrics } from './metrics/create-request-metrics.ts';
export { createUpkeepMetrics, type UpkeepMetrics } from './metrics/create-upkeep-metrics.ts';
export { createDeliveryQueueScripts } from './queues/create-delivery-queue-scripts.ts';
export {
  BLOCK_LIMIT_MS,
  closeRedis,
  connectRedis,
  mastersOf,
  RedisUnreachableError,
  type RedisClient,
} from './redis/connect-redis.ts';
export { openConnections, type Connections } from './redis/open-connections.ts';
export { type RedisTarget } from './redis/redis-target.ts';
export { checkRedis } from './redis/check-redis.ts';
export { demandAccess, demandUsableRedis } from './redis/requirements/demand-usable-redis.ts';
export { sayRefusal } from './redis/requirements/refusal.ts';
export { findShardCounts, type ShardCounts } from './redis/find-shard-counts.ts';
export { nameConnection } from './redis/layout.ts';
export { listClients } from './redis/list-clients.ts';
export { logRedisFindings } from './redis/log-redis-findings.ts';
export { isRedisRefusal, isRedisUnavailable } from './redis/is-redis-unavailable.ts';
export { createKeyspace, GLOBAL_KEYS, type Keyspace, type ShardKeys } from './redis/keys.ts';
export { SHARD_LIMIT } from './redis/shards.ts';
export { randomToken } from './redis/random-token.ts';
export { createWriteConfirmation, type ConfirmWrite, type WriteProof } from './redis/write-confirmation.ts';
export { answerWithin } from './lifecycle/answer-within.ts';
export { defineScript } from './redis/script.ts';
export { whenIdle } from './redis/when-idle.ts';
export { newRevision } from './redis/revision.ts';
export { createScriptCommands, type SendScriptCommand } from './redis/script-commands.ts';
export { forgetGeneration, type ForgetReport } from './secrets/forget-generation.ts';
export { createGenerationStore, type Generation, type GenerationStore } from './secrets/generation-store.ts';
export { describeUnlisted, joinGenerations } from './secrets/join-generations.ts';
export { resealSecrets, type ResealProgress, type ResealReport } from './secrets/reseal-secrets.ts';
export { createSealedSecretStore, type SealedSecretStore } from './secrets/sealed-secret-store.ts';
export { createSecretBox, type SecretBox } from './secrets/secret-box.ts';
export { judgeShards } from './shards/judge-shards.ts';
export { createUpgradeEvents } from './shards/upgrade/create-upgrade-events.ts';
export { findLayoutProblem } from './shards/upgrade/find-layout-problem.ts';
export { isUnrecorded, LOSS_KNOWN } from './shards/judge-loss.ts';
export { createLossMark } from './shards/loss-mark.ts';
export { createLossReport } from './shards/create-loss-report.ts';
export { createFindRunning } from './shards/find-running.ts';
export { readKeyName } from './shards/key-name.ts';
export { moveShards, type MoveProgress, type MoveReport } from './shards/move-shards.ts';
export { createProcessPresence, type ProcessPresence } from './shards/process-presence.ts';
export { openShards, type OpenShards } from './shards/open-shards.ts';
export { createShardRecordStore, type ShardRecord } from './shards/shard-record.ts';
export { type LastCheckpoint, type TaskRecord } from './tasks/task-record.ts';
export { createServiceStateReader, type ServiceState } from './service-state/create-service-state-reader.ts';
export { createTaskRetention } from './tasks/task-retention.ts';
export {
  createTaskStore,
  MESSAGE_LIMIT,
  MESSAGE_LIMIT_BYTES,
  type TaskCursor,
  type TaskPage,
  type TaskStore,
} from './tasks/task-store.ts';
export { createSendTestEvent, type TestEventReport, type TestOutcome } from './test-events/send-test-event.ts';
export { createTestEventStore, type TestEvent, type TestEventStore } from './test-events/test-event-store.ts';
export {
  createTestReplyListener,
  publishTestReply,
  type TestReplies,
  type TestReply,
} from './test-events/test-replies.ts';
export {
  createTransitionStore,
  FACT_LIMIT,
  type CommitReply,
  type Emission,
  type TransitionCommit,
  type TransitionStore,
} from './transitions/transition-store.ts';
export {
  createWorkerPresence,
  PRESENCE_INTERVAL_MS,
  WAIT_CONNECTION,
  type WorkerPresence,
} from './workers/worker-presence.ts';
