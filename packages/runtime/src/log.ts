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

/** Owners that are counted at a time, each by itself. */
const OWNER_LIMIT = 10_000;
/** Lines of one owner, for each line of one subject. */
const OWNER_LINES = 5;

/** The lines of an owner in its window. `written`: by subject; at most OWNER_LINES of them have any. */
type LogWindow = {
  readonly timer: NodeJS.Timeout;
  readonly written: Map<string, number>;
  readonly suppressed: Map<string, number>;
  left: number;
  suppressedOfOthers: number;
};

/**
 * Lets the first lines about each subject through in a window of time, and five times as many of each owner, and counts
 * the rest: an endpoint that refuses everything must not bury the log lines about all others, and neither must a
 * workspace that has very many of them. Of very many owners at a time, those that come last are counted as one.
 * @param lines of a subject
 * @param onSuppressed called at the end of an owner's window for each subject that had more lines; `subject` is absent
 * for all of those that had none written
 */
export function createLogLimit(
  lines: number,
  windowMs: number,
  onSuppressed: (suppressed: { readonly owner: string; readonly subject?: string; readonly lines: number }) => void,
) {
  const windows = new Map<string, LogWindow>();
  const end = (owner: string): void => {
    const window = windows.get(owner);
    if (!window) return;
    clearTimeout(window.timer);
    windows.delete(owner);
    for (const [subject, count] of window.suppressed) onSuppressed({ owner, subject, lines: count });
    if (window.suppressedOfOthers > 0) onSuppressed({ owner, lines: window.suppressedOfOthers });
  };
  const open = (owner: string): LogWindow => {
    const timer = setTimeout(end, windowMs, owner).unref();
    const left = OWNER_LINES * lines;
    const window: LogWindow = { timer, written: new Map(), suppressed: new Map(), left, suppressedOfOthers: 0 };
    windows.set(owner, window);
    return window;
  };
  return {
    /** Whether to write a line about this subject. */
    admits: (subject: string, given = subject): boolean => {
      const owner = windows.has(given) || windows.size < OWNER_LIMIT ? given : 'others';
      const window = windows.get(owner) ?? open(owner);
      const { written, suppressed } = window;
      const before = written.get(subject) ?? 0;
      if (before < lines && window.left > 0) {
        written.set(subject, before + 1);
        window.left--;
        return true;
      }
      if (before > 0) suppressed.set(subject, (suppressed.get(subject) ?? 0) + 1);
      else window.suppressedOfOthers++;
      return false;
    },
    /** Ends all windows. */
    close: (): void => {
      for (const owner of windows.keys()) end(owner);
    },
  };
}
