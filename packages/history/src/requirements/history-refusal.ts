/** The history can't be used as it is. The message says what to change, and shows no password. */
export class HistoryRefusal extends Error {
  override readonly name = 'HistoryRefusal';
}

/** Errors of PostgreSQL that a retry doesn't mend, by their code, and what to do. */
const REFUSALS: Readonly<Record<string, string>> = {
  '28P01': 'HISTORY_URL has a wrong user or password',
  '28000': 'HISTORY_URL has a user or an address that PostgreSQL lets in by no rule of its pg_hba.conf',
  '3D000': 'HISTORY_URL names a database that does not exist; create it',
  '42501': 'the user of HISTORY_URL lacks a right; let it own the schema herald, or a database of its own',
};

/** A sentence about an error that a retry doesn't mend; undefined for one that may pass, such as a server that is away. */
export function findRefusal(error: unknown): HistoryRefusal | undefined {
  if (error instanceof HistoryRefusal) return error;
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const sentence = REFUSALS[String(error.code)];
  const detail = 'message' in error ? String(error.message) : '';
  return sentence === undefined ? undefined : new HistoryRefusal(`${sentence} (${detail})`, { cause: error });
}
