import { IntegerText } from '@herald/runtime/env/env';
import { LOG_LEVELS } from '@herald/runtime/log/logger';
import { SHARD_TAGS } from '@herald/store/keyspace/shards';
import { z } from 'zod';
import { Duration } from './duration.ts';
import { HistoryEnv, toHistoryConfig, toReplayRetentionMs, toRetentionMs } from './history-env.ts';
import { RedisEnv, toRedisTarget } from './redis-env.ts';

// Of the whole text: Node skips unknown characters in base64, so a quoted or cut key would become another key.
const KEY_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;

const SecretsKey = z.string({ error: 'must be set: openssl rand -base64 32 makes one' }).transform((text, context) => {
  const items = text.split(',').map((item) => item.trim());
  const wrong = items.findIndex((item) => !KEY_TEXT.test(item));
  if (wrong >= 0) {
    // The message never shows the key.
    const which = items.length === 1 ? '' : `: number ${wrong + 1} of ${items.length} is not`;
    const message = `must be base64 keys of 32 bytes, separated by commas${which}; openssl rand -base64 32 makes one`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  return items.map((item) => Buffer.from(item, 'base64')) as [Buffer, ...Buffer[]];
});

/** Variables that every process reads. */
export const SharedEnv = z.object({
  ...RedisEnv.shape,
  SHARDS: IntegerText(1, SHARD_TAGS.length).default(1),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  /** Entries of the audit trail that each shard keeps. */
  AUDIT_LENGTH: IntegerText(100, 1_000_000).default(10_000),
});

/** Variables of the processes that encrypt and decrypt secrets. */
export const SecretsEnv = z.object({ SECRETS_KEY: SecretsKey });

/** Variables of the processes that write records. */
export const RetentionEnv = z.object({
  ...HistoryEnv.shape,
  /** Its default depends on whether there is a history. */
  RETENTION: Duration.optional(),
  TASK_RETENTION: Duration.default(30 * 86_400_000),
});

/** Variables that the API and the worker read. */
export const ProcessEnv = z.object({
  ...SharedEnv.shape,
  ...SecretsEnv.shape,
  ...RetentionEnv.shape,
  /** Deliveries that a workspace may have pending; 0: no limit. */
  WORKSPACE_PENDING_LIMIT: IntegerText(0, 1_000_000_000).default(100_000),
  /** What the Tasks, facts and bodies of a workspace may take; 0: no limit. */
  WORKSPACE_BYTES: IntegerText(0, Number.MAX_SAFE_INTEGER).default(268_435_456),
  /**
   * Where traces go; there are none when it is unset. The library itself reads the other standard variables, such as
   * OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be the http url of a collector, such as http://127.0.0.1:4318' })
    .optional(),
});

export function toProcessConfig(given: z.infer<typeof ProcessEnv>) {
  return {
    redis: toRedisTarget(given),
    shardCount: given.SHARDS,
    logLevel: given.LOG_LEVEL,
    auditLength: given.AUDIT_LENGTH,
    secretsKeys: given.SECRETS_KEY,
    retentionMs: toRetentionMs(given),
    replayRetentionMs: toReplayRetentionMs(given),
    /** Undefined: settled deliveries stay in Redis until they expire. */
    history: toHistoryConfig(given),
    workspaceLimits: { pending: given.WORKSPACE_PENDING_LIMIT, bytes: given.WORKSPACE_BYTES },
    traceEndpoint: given.OTEL_EXPORTER_OTLP_ENDPOINT,
  };
}
