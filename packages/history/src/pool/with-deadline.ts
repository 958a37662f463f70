import { HistoryUnavailableError } from '@herald/core';
import pg from 'pg';

/** Classes of SQLSTATE that speak of the server or of its state, and not of the statement. */
const PASSING = ['08', '25', '40', '53', '55', '57', '58'];
/** The schema, its tables or a right are missing: a worker has not migrated it yet, or an operator has to grant it. */
const NOT_READY = ['3F000', '42P01', '42501', '28000', '28P01', '3D000'];

/** Why history can't be read or written now. Undefined: the error is a bug of ours. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error && !(error instanceof TypeError);
  const code = error.code ?? '';
  return PASSING.includes(code.slice(0, 2)) || NOT_READY.includes(code);
}

export type DeadlineOptions = {
  readonly limitMs: number;
  /** Hears why history was unavailable. */
  readonly onUnavailable: (error: Error) => void;
};

/**
 * The result of work on history, unless it takes too long.
 * @throws HistoryUnavailableError when history can't be reached in time
 */
export async function withDeadline<T>({ limitMs, onUnavailable }: DeadlineOptions, work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`history did not answer within ${limitMs} ms`));
  }, limitMs);
  const result = work();
  // It may fail later than the deadline, when nobody waits for it any more.
  result.catch(() => undefined);
  try {
    return await Promise.race([result, late.promise]);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    onUnavailable(error as Error);
    throw new HistoryUnavailableError();
  } finally {
    clearTimeout(timer);
  }
}
