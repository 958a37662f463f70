import { HistoryUnavailableError } from '@herald/core';
import pg from 'pg';

/** The history can't be used as it is. The message says what to change, and shows no password. */
export class HistoryRefusal extends Error {
  override readonly name = 'HistoryRefusal';
}

/** The day of a delivery can't take it now: it is being dropped, and whoever still reads it delays that. */
export class DayGoingError extends Error {
  override readonly name = 'DayGoingError';
  constructor(table: string, state: 'going' | 'detached') {
    super(
      state === 'going'
        ? `herald.${table} is being dropped, and somebody still reads it`
        : `herald.${table} is detached from its table; attach it again, or drop it`,
    );
  }
}

/**
 * Whose fault an error is. `row`: what is written can't be stored, and others can. `moment`: it may pass by itself.
 * `set-up`: somebody has to change something in PostgreSQL or in HISTORY_URL. `bug`: ours.
 */
export type HistoryFault = 'row' | 'moment' | 'set-up' | 'bug';

/** A SQLSTATE, or its class (the first two characters), whose fault it is, and what to do about it. */
const STATES: Readonly<Record<string, readonly [fault: HistoryFault, whatToDo?: string]>> = {
  // A connection that was lost; a parameter that a pooler refuses.
  '08': ['moment'],
  '08P01': [
    'set-up',
    'what HISTORY_URL leads to refuses the connection, as a pooler does with a parameter it does not know',
  ],
  '0A': ['set-up'],
  // A value that the encoding or the type can't hold; a missing value; a constraint or a trigger that somebody added; no
  // partition: its day vanished, and is made again with the next try.
  '22': ['row'],
  '23': ['row'],
  '44': ['row'],
  P0: ['row'],
  '25': ['moment'],
  // A standby, or a server that was made read-only: the next look says which one it is.
  '25006': ['set-up'],
  // A statement whose name a pooler has forgotten.
  '26': ['set-up'],
  '28': ['set-up', 'HISTORY_URL has a user or an address that PostgreSQL lets in by no rule of its pg_hba.conf'],
  '28P01': ['set-up', 'HISTORY_URL has a wrong user or password'],
  '3D': ['set-up', 'HISTORY_URL names a database that does not exist; create it'],
  '3F': ['set-up', 'the schema herald is not there'],
  // A deadlock, or a transaction that has to be repeated.
  '40': ['moment'],
  '42': ['bug'],
  '42501': ['set-up', 'the user of HISTORY_URL lacks a right; let it own the schema herald, or a database of its own'],
  '42703': ['set-up', 'the schema herald is that of another release'],
  '42P01': ['set-up', 'a table of the schema herald is not there'],
  // No room, too many connections, a lock or a statement that took too long, a shutdown, a disk.
  '53': ['moment'],
  // A row, or its entry in an index, is too large.
  '54': ['row'],
  '55': ['moment'],
  '57': ['moment'],
  '58': ['moment'],
  // A damaged table or index: other days may be whole.
  XX: ['row'],
};

/** A certificate that OpenSSL refuses, or Node for its name. */
const CERTIFICATE = /^(ERR_TLS_CERT_ALTNAME_INVALID|CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_CERT\w*|UNABLE_TO_\w+)$/;
/** What the driver says when the server has no TLS, which the url asks for. */
const NO_TLS = 'The server does not support SSL connections';

function findTlsProblem(error: unknown): string | undefined {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown };
  if (message === NO_TLS) return 'HISTORY_URL asks for TLS; turn it on in PostgreSQL, or leave sslmode out';
  return CERTIFICATE.test(String(code))
    ? 'the certificate of the server is none that HISTORY_URL trusts; name its CA in sslrootcert, and the host as the certificate does'
    : undefined;
}

const stateOf = (error: pg.DatabaseError) => STATES[error.code ?? ''] ?? STATES[error.code?.slice(0, 2) ?? ''];

export function judgeHistoryError(error: unknown): HistoryFault {
  if (error instanceof HistoryRefusal) return 'set-up';
  if (error instanceof DayGoingError) return 'row';
  if (findTlsProblem(error) !== undefined) return 'set-up';
  if (error instanceof pg.DatabaseError) return stateOf(error)?.[0] ?? 'bug';
  // A server that can't be reached is an Error of the driver or of Node; a mistake of ours is one of a kind.
  const isPlain = error instanceof Error && (error.name === 'Error' || error.name === 'AggregateError');
  return isPlain ? 'moment' : 'bug';
}

/** A sentence about an error that a retry doesn't mend; undefined for one that may pass, such as a server that is away. */
export function findRefusal(error: unknown): HistoryRefusal | undefined {
  if (error instanceof HistoryRefusal) return error;
  const whatToDo = error instanceof pg.DatabaseError ? stateOf(error)?.[1] : findTlsProblem(error);
  if (whatToDo === undefined) return undefined;
  return new HistoryRefusal(`${whatToDo} (${(error as Error).message})`, { cause: error });
}

export type DeadlineOptions = {
  readonly limitMs: number;
  /** Comes first: throws when this is no history that may be used. */
  readonly demandUsable?: () => Promise<void>;
  /** Hears why history was unavailable. */
  readonly onUnavailable: (error: Error) => void;
  /** Hears of each answer. */
  readonly onAvailable?: () => void;
};

/**
 * The result of work on history, unless it takes too long.
 * @throws HistoryUnavailableError when history can't be reached in time
 */
export async function withDeadline<T>(options: DeadlineOptions, work: () => Promise<T>): Promise<T> {
  const { limitMs, demandUsable, onUnavailable, onAvailable } = options;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`history did not answer within ${limitMs} ms`));
  }, limitMs);
  const result = (async () => {
    await demandUsable?.();
    return await work();
  })();
  // It may fail later than the deadline, when nobody waits for it any more.
  result.catch(() => undefined);
  try {
    const answer = await Promise.race([result, late.promise]);
    onAvailable?.();
    return answer;
  } catch (error) {
    // Whose turn didn't come in time was kept waiting by its own workspace: history is there.
    if (error instanceof HistoryUnavailableError || judgeHistoryError(error) === 'bug') throw error;
    onUnavailable(error as Error);
    throw new HistoryUnavailableError();
  } finally {
    clearTimeout(timer);
  }
}
