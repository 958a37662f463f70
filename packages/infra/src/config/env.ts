import { readDuration } from '@herald/core';
import { z } from 'zod';
import { LOG_LEVELS } from '../log/logger.ts';
import { SHARD_TAGS } from '../redis/shards.ts';
import { RedisEnv } from './redis-env.ts';

/** The environment is wrong; the message lists everything that is. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Each problem by itself, beginning with its variable. */
  readonly problems: readonly string[];
  constructor(message: string, problems: readonly string[] = [message]) {
    super(message);
    this.problems = problems;
  }
}

/** A duration such as `15s`, as ms. */
export const Duration = z.string().transform((text, context) => {
  const ms = readDuration(text);
  if (ms === undefined)
    context.addIssue({ code: 'custom', message: 'must be a duration such as 500ms, 15s, 5m, 2h, 7d' });
  return ms ?? z.NEVER;
});

/** A comma-separated list of durations, as ms. */
export const DurationList = z.string().transform((text, context) => {
  const list = text.trim() === '' ? [] : text.split(',').map(readDuration);
  const read = list.filter((ms) => ms !== undefined);
  if (read.length === list.length) return read;
  context.addIssue({ code: 'custom', message: 'must be durations separated by commas, such as 5s,5m,2h' });
  return z.NEVER;
});

export const CommaList = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

export const IntegerText = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

export const Port = IntegerText(0, 65_535);

// The whole text, since Node's base64 skips what it doesn't know: a quoted or cut key would become another one.
const KEY_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;

const SecretsKey = z.string({ error: 'must be set: openssl rand -base64 32 makes one' }).transform((text, context) => {
  const items = text.split(',').map((item) => item.trim());
  const wrong = items.findIndex((item) => !KEY_TEXT.test(item));
  if (wrong >= 0) {
    // Which one, and never what it holds.
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
});

/** Variables of the processes that seal and open secrets. */
export const SecretsEnv = z.object({ SECRETS_KEY: SecretsKey });

/** Variables of the processes that write records. */
export const RetentionEnv = z.object({
  RETENTION: Duration.default(7 * 86_400_000),
  TASK_RETENTION: Duration.default(30 * 86_400_000),
});

/**
 * Parses the environment. A variable that is set but empty counts as unset, except those named in `emptyMeans`.
 * @throws ConfigError with every problem at once
 */
export function readEnv<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  emptyMeans: readonly string[] = [],
): z.infer<Schema> {
  const given = Object.entries(env).filter(([name, value]) => value !== '' || emptyMeans.includes(name));
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  throw new ConfigError(['The configuration is wrong:', ...problems].join('\n  '), problems);
}
