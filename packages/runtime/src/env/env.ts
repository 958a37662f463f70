import { z } from 'zod';

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
