import { readDuration } from '@herald/core';
import { IntegerText, ParsedText, problemOf, readItems } from '@herald/runtime/env';
import { LOG_LEVELS } from '@herald/runtime/log';
import { SHARD_TAGS } from '@herald/store/keys/keys';
import { z } from 'zod';
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

const DAY_MS = 86_400_000;
/** Which of several servers is wanted, as libpq knows it; packages/history/src/pool chooses by it. */
const SESSION_ATTRS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'];
/** What the driver knows. It takes any other for the strictest. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** A duration such as `15s`, as ms. */
export const Duration = ParsedText(readDuration, 'must be a duration such as 500ms, 15s, 5m, 2h, 7d');

/** Where settled deliveries go. Without HISTORY_URL they stay in Redis until they expire. */
const HistoryEnv = z.object({
  HISTORY_URL: ParsedText(
    readUrl,
    'must be a url with a database, such as postgres://herald:password@10.0.0.5:5432/herald?sslmode=verify-full; ' +
      'percent-encode what is special in its password; several hosts are separated by commas, a target_session_attrs is ' +
      `one of ${SESSION_ATTRS.join(', ')}, and an sslmode one of ${SSL_MODES.join(', ')}`,
  ).optional(),
  HISTORY_RETENTION: Duration.refine((ms) => ms >= DAY_MS, 'must be at least 1d').default(90 * DAY_MS),
  HISTORY_BODIES: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('true')
    .transform((text) => text === 'true'),
});

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
  /** What the Tasks, facts, bodies, attempts and kept answers of a workspace may take; 0: no limit. */
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

/** How long settled deliveries stay in Redis, with and without a history. */
const RETENTION_MS = { withHistory: 3_600_000, without: 7 * DAY_MS };

/** As it is: the history reads its hosts, and the driver its parameters, such as sslmode. */
function readUrl(text: string): string | undefined {
  const [, before = '', hosts = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/.exec(text) ?? [];
  const isWhole = hosts.split(',').every((host) => {
    const url = URL.parse(`${before}${host}${after}`);
    const attrs = url?.searchParams.get('target_session_attrs') ?? 'any';
    const sslMode = url?.searchParams.get('sslmode') ?? 'prefer';
    const isKnown = SESSION_ATTRS.includes(attrs) && SSL_MODES.includes(sslMode);
    return url !== null && url.hostname !== '' && url.pathname.length > 1 && isKnown;
  });
  return isWhole ? text : undefined;
}

type Given = z.infer<typeof HistoryEnv> & { readonly RETENTION?: number | undefined };

/** What leaves Redis after its own day is over would leave the history at once. */
export function withLongerHistory<Schema extends z.ZodType<Partial<Given>>>(schema: Schema): Schema {
  return schema.refine(
    ({ HISTORY_URL: url, HISTORY_RETENTION: history, RETENTION: retention }) =>
      url === undefined || history === undefined || retention === undefined || history > retention,
    problemOf(
      'HISTORY_RETENTION',
      'must be longer than RETENTION, since settled deliveries move to the history after it',
    ),
  );
}

/** How long settled deliveries stay in Redis, in ms. */
export function toRetentionMs({ HISTORY_URL: url, RETENTION: given }: Given): number {
  return given ?? (url === undefined ? RETENTION_MS.without : RETENTION_MS.withHistory);
}

/** How long an ended replay can be looked up, in ms: a history keeps none. */
export function toReplayRetentionMs(given: Given): number {
  return given.HISTORY_URL === undefined ? toRetentionMs(given) : RETENTION_MS.without;
}

/** Undefined: there is no history. */
export function toHistoryConfig(given: Given) {
  const { HISTORY_URL: url, HISTORY_RETENTION: retentionMs, HISTORY_BODIES: keepsBodies } = given;
  return url === undefined ? undefined : { url, retentionMs, keepsBodies };
}
export type HistoryConfig = NonNullable<ReturnType<typeof toHistoryConfig>>;

/** A comma-separated list of durations, which may be empty, as ms. */
export const DurationList = ParsedText(
  (text) => (text.trim() === '' ? [] : readItems(text, readDuration)),
  'must be durations separated by commas, such as 5s,5m,2h',
);
