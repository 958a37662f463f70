import winston from 'winston';
import { isErrorLike } from './errors.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields of one log line: ids, numbers, codes. Never a secret, a body or the path of a url. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Each kind of event has one name; everything else goes into the fields. */
export type Logger = Readonly<Record<LogLevel, (event: string, fields?: LogFields, error?: unknown) => void>>;

type LoggerOptions = {
  readonly level: LogLevel;
  /** Name of the process: api, worker. */
  readonly process: string;
  /** Prints readable lines instead of JSON, for a terminal. */
  readonly readable: boolean;
};

export function createLogger({ level, process, readable }: LoggerOptions): Logger {
  const { combine, timestamp, json, printf } = winston.format;
  const logger = winston.createLogger({
    level,
    defaultMeta: { process },
    format: combine(timestamp(), readable ? printf(toReadableLine) : json()),
    transports: new winston.transports.Console(),
  });
  // winston formats a line before it checks the level. A line that isn't written must not slow a send down.
  const at = (name: LogLevel) => (event: string, fields?: LogFields, error?: unknown) => {
    if (LOG_LEVELS.indexOf(name) > LOG_LEVELS.indexOf(level)) return;
    logger.log({ level: name, message: event, ...fields, ...(error !== undefined && describeError(error)) });
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** The message without a parser's quotation, which may be a customer's record. */
function messageFor({ name, message }: Error): string {
  return name === 'SyntaxError' ? message.replace(/"[^]*"/, '"…"') : message;
}

/** Only name, code, message and stack: a Redis error also holds the command's arguments, an HTTP error the headers. */
function describeError(error: unknown): LogFields {
  if (!isErrorLike(error)) return { error: typeof error };
  const { code } = error as NodeJS.ErrnoException;
  return {
    error: messageFor(error).slice(0, 500),
    errorName: error.name,
    ...(code !== undefined && { errorCode: code }),
    stack: (error.stack ?? '')
      .split('\n')
      .slice(1, 6)
      .map((line) => line.trim())
      .join(' < '),
  };
}

/** One line for a terminal: time, level, process, event, and the fields as `name=value`. The stack follows. */
function toReadableLine({ level, message, timestamp, process, stack, ...fields }: Record<string, unknown>): string {
  const time = textOf(timestamp).slice(11, 23);
  const start = `${time} ${textOf(level).toUpperCase().padEnd(5)} ${textOf(process).padEnd(6)} ${textOf(message)}`;
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  const line = [start, ...known.map(([name, value]) => `${name}=${textOf(value)}`)].join(' ');
  return stack === undefined ? line : `${line}\n    ${textOf(stack)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Subjects that are counted at a time, each by itself. */
const SUBJECT_LIMIT = 10_000;

/**
 * Lets the first lines about each subject through in a window of time, and counts the rest: an endpoint that refuses
 * everything must not bury the log lines about all others. Of very many subjects at a time, those that come last are
 * counted as the one subject `others`.
 * @param onSuppressed called at the end of a window that had more lines
 */
export function createLogLimit(
  lines: number,
  windowMs: number,
  onSuppressed: (subject: string, lines: number) => void,
) {
  const windows = new Map<string, { count: number; readonly timer: NodeJS.Timeout }>();
  const end = (subject: string): void => {
    const { count = 0, timer } = windows.get(subject) ?? {};
    clearTimeout(timer);
    windows.delete(subject);
    if (count > lines) onSuppressed(subject, count - lines);
  };
  return {
    /** Whether to write a line about this subject. */
    admits: (given: string): boolean => {
      const subject = windows.has(given) || windows.size < SUBJECT_LIMIT ? given : 'others';
      const window = windows.get(subject) ?? { count: 0, timer: setTimeout(end, windowMs, subject).unref() };
      windows.set(subject, window);
      window.count++;
      return window.count <= lines;
    },
    /** Ends all windows. */
    close: (): void => {
      for (const subject of windows.keys()) end(subject);
    },
  };
}
