import { z } from 'zod';

/** The environment is wrong; the message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Each problem by itself, beginning with its variable. */
  readonly problems: readonly string[];
  constructor(message: string, problems: readonly string[] = [message]) {
    super(message);
    this.problems = problems;
  }
}

/** A text that `read` parses; `message` is the problem when it returns undefined. */
export const ParsedText = <T>(read: (text: string) => T | undefined, message: string) =>
  z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

export const CommaList = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Parses every item of a comma-separated text; undefined when `read` returns that for one. */
export function readItems<T>(text: string, read: (item: string) => T | undefined): T[] | undefined {
  const items = text.split(',').map((item) => read(item.trim()));
  const known = items.filter((item) => item !== undefined);
  return known.length === items.length ? known : undefined;
}

/** A number in decimal digits; undefined for any other text, and outside of `min` to `max`. */
export function readInteger(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max ? value : undefined;
}

export const IntegerText = (min: number, max: number) =>
  ParsedText((text) => readInteger(text, min, max), `must be a whole number from ${min} to ${max}`);

export const Port = IntegerText(0, 65_535);

/** A switch that is off by default. */
export const Switch = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .default('false')
  .transform((text) => text === 'true');

/** Options of a rule between variables: `name` gets the problem, which is listed even when others were found before. */
export const problemOf = (name: string, error: string) => ({ path: [name], when: () => true, error });

/**
 * Parses the environment. Blanks and line ends around a value don't count: files and secrets end with one. A variable
 * that is set but empty counts as unset, except those named in `emptyMeans`.
 * @throws ConfigError with every problem at once
 */
export function readEnv<Schema extends z.ZodObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  emptyMeans: readonly string[] = [],
): z.infer<Schema> {
  const given = Object.entries(env)
    .map(([name, value = '']) => [name, value.trim()] as const)
    .filter(([name, value]) => name in schema.shape && (value !== '' || emptyMeans.includes(name)));
  const parsed = schema.safeParse(Object.fromEntries(given));
  const torn = given.filter(([, value]) => /\p{Cc}/u.test(value));
  if (parsed.success && torn.length === 0) return parsed.data;
  const problems = [
    // Parsers of urls leave them out, and who uses the text doesn't.
    ...torn.map(([name]) => `${name} must not have line ends, or other control characters, within it`),
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${issue.message}`),
  ];
  throw new ConfigError(['The configuration is wrong:', ...problems].join('\n  '), problems);
}
