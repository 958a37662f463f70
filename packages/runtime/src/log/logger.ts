import winston from 'winston';
import { isErrorLike } from '../errors/is-error-like.ts';
import { toReadableLine } from './readable-line.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Facts of one log line: ids, numbers, codes. Never a secret, a body or a url's path. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One event name per fact; everything else in fields. */
export type Logger = Readonly<Record<LogLevel, (event: string, fields?: LogFields, error?: unknown) => void>>;

export type LoggerOptions = {
  readonly level: LogLevel;
  /** The process: api, worker, cli. */
  readonly process: string;
  /** One readable line instead of JSON, for a terminal. */
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
  // winston formats a line before it looks at the level: what nobody writes must not cost a send anything.
  const at = (name: LogLevel) => (event: string, fields?: LogFields, error?: unknown) => {
    if (LOG_LEVELS.indexOf(name) > LOG_LEVELS.indexOf(level)) return;
    logger.log({ level: name, message: event, ...fields, ...(error !== undefined && describeError(error)) });
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** A parser's message quotes what it couldn't parse, such as a customer's record. */
function messageFor({ name, message }: Error): string {
  return name === 'SyntaxError' ? message.replace(/"[^]*"/, '"…"') : message;
}

/**
 * Name, code, message and stack of an error, nothing else: a Redis error carries the command with all its arguments,
 * a request's its headers.
 */
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
