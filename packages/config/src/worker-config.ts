import { DEFAULT_SCHEDULE_MS } from '@herald/core';
import { z } from 'zod';
import { EgressEnv } from '@herald/egress/egress-env';
import { TracingEnv } from './tracing-env.ts';
import { toRedisTarget, withOneRedis } from './redis-env.ts';
import { ShardList } from './shard-list.ts';
import { Duration, DurationList } from './duration.ts';
import { IntegerText, Port, readEnv } from '@herald/runtime/env/env';
import { RetentionEnv, SecretsEnv, SharedEnv } from './shared-env.ts';

const WorkerEnv = withOneRedis(
  z.object({
    ...SharedEnv.shape,
    ...SecretsEnv.shape,
    ...EgressEnv.shape,
    ...RetentionEnv.shape,
    ...TracingEnv.shape,
    TRACEPARENT_TO_RECEIVERS: z.enum(['true', 'false']).default('false'),
    WORKER_PORT: Port.default(8081),
    WORKER_HOST: z.string().default('127.0.0.1'),
    CONCURRENCY: IntegerText(1, 10_000).default(100),
    DELIVERY_TIMEOUT: Duration.refine((ms) => ms > 0 && ms <= 600_000, 'must be more than 0 and at most 10m').default(
      15_000,
    ),
    WORKER_SHARDS: ShardList.optional(),
    DESTINATION_CONCURRENCY: IntegerText(1, 10_000).default(50),
    DISABLE_AFTER: Duration.default(5 * 86_400_000),
    RETRY_SCHEDULE: DurationList.refine((list) => list.length <= 40, 'must be at most 40 durations').default([
      ...DEFAULT_SCHEDULE_MS,
    ]),
  }),
).refine(({ SHARDS, WORKER_SHARDS = [] }) => WORKER_SHARDS.every((shard) => shard < SHARDS), {
  path: ['WORKER_SHARDS'],
  error: ({ input }) => {
    const { SHARDS } = input as { SHARDS: number };
    return `must name shards from 0 to ${SHARDS - 1}, since SHARDS is ${SHARDS}`;
  },
});

/** What a worker process is started with. Times are in ms. */
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws ConfigError with every problem at once */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(WorkerEnv, env, ['RETRY_SCHEDULE']);
  const workerShards = given.WORKER_SHARDS ?? Array.from({ length: given.SHARDS }, (_, shard) => shard);
  return {
    redis: toRedisTarget(given),
    shardCount: given.SHARDS,
    /** Those that this worker serves, from 0. */
    workerShards,
    logLevel: given.LOG_LEVEL,
    secretsKeys: given.SECRETS_KEY,
    egress: {
      allowCidrs: given.EGRESS_ALLOW_CIDRS,
      caPem: given.EGRESS_CA_FILE,
      dnsServers: given.EGRESS_DNS_SERVERS,
    },
    retentionMs: given.RETENTION,
    traceEndpoint: given.OTEL_EXPORTER_OTLP_ENDPOINT,
    sendsTraceparent: given.TRACEPARENT_TO_RECEIVERS === 'true',
    port: given.WORKER_PORT,
    host: given.WORKER_HOST,
    concurrency: given.CONCURRENCY,
    destinationConcurrency: given.DESTINATION_CONCURRENCY,
    disableAfterMs: given.DISABLE_AFTER,
    deliveryTimeoutMs: given.DELIVERY_TIMEOUT,
    retryScheduleMs: given.RETRY_SCHEDULE,
  };
}
