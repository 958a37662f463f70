import { z } from 'zod';
import { DestinationEnv } from '@herald/egress/egress-env';
import { TracingEnv } from './tracing-env.ts';
import { IntegerText, Port, readEnv } from '@herald/runtime/env/env';
import { RetentionEnv, SecretsEnv, SharedEnv } from './shared-env.ts';
import { toRedisTarget, withOneRedis } from './redis-env.ts';
import { OperatorEnv, toOperatorConfig, withBothCredentials } from './operator-env.ts';

const ActionUrlTemplate = z
  .string({ error: 'must be set, such as https://app.example.com/tasks/{taskId}/actions/{actionVersion}' })
  .refine((text) => URL.canParse(text.replace(/\{(taskId|actionVersion)\}/g, 'x')), 'must be a url')
  .refine((text) => text.includes('{taskId}'), 'must contain {taskId}');

const ApiEnv = withBothCredentials(
  withOneRedis(
    z.object({
      ...SharedEnv.shape,
      ...SecretsEnv.shape,
      ...DestinationEnv.shape,
      ...RetentionEnv.shape,
      ...TracingEnv.shape,
      PORT: Port.default(8080),
      HOST: z.string().default('127.0.0.1'),
      ACTION_URL_TEMPLATE: ActionUrlTemplate,
      /** Requests per second of one workspace key; 0: no limit. */
      RATE_LIMIT: IntegerText(0, 1_000_000).default(200),
      /** Proxies in front, whose additions to X-Forwarded-For are believed. */
      TRUST_PROXY: IntegerText(0, 16).default(0),
      ...OperatorEnv.shape,
    }),
  ),
);

/** What an API process is started with. Times are in ms. */
export type ApiConfig = ReturnType<typeof readApiConfig>;

/** @throws ConfigError with every problem at once */
export function readApiConfig(env: NodeJS.ProcessEnv) {
  const given = readEnv(ApiEnv, env);
  return {
    redis: toRedisTarget(given),
    minReplicas: given.REDIS_MIN_REPLICAS,
    shardCount: given.SHARDS,
    logLevel: given.LOG_LEVEL,
    secretsKeys: given.SECRETS_KEY,
    allowCidrs: given.EGRESS_ALLOW_CIDRS,
    retentionMs: given.RETENTION,
    taskRetentionMs: given.TASK_RETENTION,
    traceEndpoint: given.OTEL_EXPORTER_OTLP_ENDPOINT,
    port: given.PORT,
    host: given.HOST,
    actionUrlTemplate: given.ACTION_URL_TEMPLATE,
    rateLimit: given.RATE_LIMIT,
    proxyCount: given.TRUST_PROXY,
    /** Absent: there are no operator pages. */
    operator: toOperatorConfig(given),
  };
}
