import { DEFAULT_DELIVERY_TIMEOUT_MS, DEFAULT_DISABLE_AFTER_MS, DEFAULT_SCHEDULE_MS } from '@herald/core';
import { z } from 'zod';
import { EgressEnv } from '@herald/egress/egress-env';
import { withLongerHistory } from './history-env.ts';
import { withOneRedis } from './redis-env.ts';
import { ShardList } from './shard-list.ts';
import { Duration, DurationList } from './duration.ts';
import { NoticeEnv, toNoticeConfig, withUsableNotices } from './notice-env.ts';
import { IntegerText, Port, readEnv, Switch } from '@herald/runtime/env/env';
import { ProcessEnv, toProcessConfig } from './shared-env.ts';

const Schedule = DurationList.refine((list) => list.length <= 40, 'must be at most 40 durations');

/** Variables that mean something when they are set but empty: no retries. */
export const MEANT_WHEN_EMPTY: readonly string[] = ['RETRY_SCHEDULE', 'CALLBACK_RETRY_SCHEDULE'];

export const WorkerEnv = withOneRedis(
  z.object({
    ...ProcessEnv.shape,
    ...EgressEnv.shape,
    ...NoticeEnv.shape,
    TRACEPARENT_TO_RECEIVERS: Switch,
    WORKER_PORT: Port.default(8081),
    WORKER_HOST: z.string().default('127.0.0.1'),
    CONCURRENCY: IntegerText(1, 10_000).default(100),
    DELIVERY_TIMEOUT: Duration.refine((ms) => ms > 0 && ms <= 600_000, 'must be more than 0 and at most 10m').default(
      DEFAULT_DELIVERY_TIMEOUT_MS,
    ),
    WORKER_SHARDS: ShardList.default('all'),
    DESTINATION_CONCURRENCY: IntegerText(1, 10_000).default(50),
    DISABLE_AFTER: Duration.default(DEFAULT_DISABLE_AFTER_MS),
    RETRY_SCHEDULE: Schedule.default([...DEFAULT_SCHEDULE_MS]),
    CALLBACK_RETRY_SCHEDULE: Schedule.optional(),
  }),
).superRefine(({ SHARDS, WORKER_SHARDS, EGRESS_DNS, EGRESS_DNS_SERVERS }, context) => {
  if (EGRESS_DNS === 'system' && EGRESS_DNS_SERVERS.length > 0) {
    const both = 'must not be system beside EGRESS_DNS_SERVERS: the system asks its own servers';
    context.addIssue({ code: 'custom', path: ['EGRESS_DNS'], message: both });
  }
  if (WORKER_SHARDS === 'all' || WORKER_SHARDS.every((shard) => shard < SHARDS)) return;
  const message = `must name shards from 0 to ${SHARDS - 1}, since SHARDS is ${SHARDS}`;
  context.addIssue({ code: 'custom', path: ['WORKER_SHARDS'], message });
});

/** The settings of a worker. */
export type WorkerConfig = ReturnType<typeof readWorkerConfig>;

/** @throws ConfigError with every problem at once */
export function readWorkerConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(withLongerHistory(withUsableNotices(WorkerEnv)), env, MEANT_WHEN_EMPTY);
  const allShards = Array.from({ length: given.SHARDS }, (_, shard) => shard);
  return {
    ...toProcessConfig(given),
    /** The shards that this worker serves, from 0. */
    workerShards: given.WORKER_SHARDS === 'all' ? allShards : given.WORKER_SHARDS,
    egress: {
      allowCidrs: given.EGRESS_ALLOW_CIDRS,
      denyCidrs: given.EGRESS_DENY_CIDRS,
      caPem: given.EGRESS_CA_FILE,
      names: { servers: given.EGRESS_DNS_SERVERS, bySystem: given.EGRESS_DNS === 'system' },
      proxyAddress: given.EGRESS_PROXY_URL,
    },
    /** Undefined: there are no notices. */
    notices: toNoticeConfig(given),
    sendsTraceparent: given.TRACEPARENT_TO_RECEIVERS,
    port: given.WORKER_PORT,
    host: given.WORKER_HOST,
    concurrency: given.CONCURRENCY,
    destinationConcurrency: given.DESTINATION_CONCURRENCY,
    disableAfterMs: given.DISABLE_AFTER,
    deliveryTimeoutMs: given.DELIVERY_TIMEOUT,
    retryScheduleMs: given.RETRY_SCHEDULE,
    callbackRetryScheduleMs: given.CALLBACK_RETRY_SCHEDULE ?? given.RETRY_SCHEDULE,
  };
}
