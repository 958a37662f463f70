import pg from 'pg';

/** SQLSTATE, or how it begins: a value can't be stored, a row lacks one, a row or an entry of an index is too large. */
const OF_ROWS = ['22', '23502', '54'];

/** Whether PostgreSQL refused a row for what it holds, and would refuse it again. */
export function isRowRefused(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const code = error.code ?? '';
  return OF_ROWS.some((each) => code.startsWith(each));
}
