import { readdir } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { MIGRATIONS_FOLDER, HISTORY_SCHEMA, MIGRATIONS_TABLE } from '../migrations/run-migrations.ts';
import { LIST_MIGRATIONS, LIST_TABLES, READ_VERSION } from '../sql/requirement-sql.ts';
import { HistoryRefusal } from './history-refusal.ts';

/** DETACH PARTITION … CONCURRENTLY began with it. */
const OLDEST_VERSION = 14;

export type HistoryState = {
  readonly serverVersion: string;
  /** Names of the migrations that this release has and the database lacks. */
  readonly missing: readonly string[];
  readonly ran: readonly string[];
};

/**
 * What the database is, before anything is changed in it.
 * @throws HistoryRefusal when it is none that this release can use
 */
export async function lookAtHistory(client: Pick<ClientBase, 'query'>): Promise<HistoryState> {
  const version = (await client.query<{ number: number; name: string }>(READ_VERSION)).rows[0];
  if (!version || version.number < OLDEST_VERSION * 10_000) {
    throw new HistoryRefusal(
      `HISTORY_URL leads to PostgreSQL ${version?.name ?? ''}; Herald needs ${OLDEST_VERSION} or later`,
    );
  }
  const { rows } = await client.query<{ name: string }>(LIST_TABLES, [HISTORY_SCHEMA]);
  const tables = rows.map(({ name }) => name);
  const known = (await readdir(MIGRATIONS_FOLDER)).map((file) => file.replace(/\.sql$/, '')).sort();
  if (tables.length === 0) return { serverVersion: version.name, missing: known, ran: [] };
  if (!tables.includes(MIGRATIONS_TABLE)) throw foreign();
  const ran = (await client.query<{ name: string }>(LIST_MIGRATIONS)).rows.map(({ name }) => name);
  const ahead = ran.filter((name) => !known.includes(name));
  if (ran.length > 0 && ahead.length === ran.length) throw foreign();
  if (ahead.length > 0) {
    throw new HistoryRefusal(
      `the history is ahead of this release, which doesn't know its migration ${ahead.join(', ')}; start the newer release`,
    );
  }
  return { serverVersion: version.name, missing: known.filter((name) => !ran.includes(name)), ran };
}

function foreign(): HistoryRefusal {
  return new HistoryRefusal(
    `the schema ${HISTORY_SCHEMA} of HISTORY_URL's database isn't a history of Herald; give it a database of its own`,
  );
}
