import { runner } from 'node-pg-migrate';
import type { ClientBase } from 'pg';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { FIND_SCHEMA } from '../sql/schema-sql.ts';

/** Everything of the history lies in this schema. */
export const HISTORY_SCHEMA = 'herald';
export const MIGRATIONS_TABLE = 'migrations';
/** Found by the name of the package: the programs are bundled. */
const FOLDER = dirname(createRequire(import.meta.url).resolve('@herald/history/package.json'));
export const MIGRATIONS_FOLDER = join(FOLDER, 'migrations');

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Brings the schema to that of this release, under an advisory lock: whoever comes second waits, and finds nothing to
 * do. All migrations are one transaction.
 * @returns the names of the migrations that it ran
 */
export async function runMigrations(client: ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query(FIND_SCHEMA, [HISTORY_SCHEMA]);
  const ran = await runner({
    dbClient: client,
    dir: MIGRATIONS_FOLDER,
    direction: 'up',
    schema: HISTORY_SCHEMA,
    // Whoever may use the schema needn't be allowed to make one.
    createSchema: rows.length === 0,
    migrationsTable: MIGRATIONS_TABLE,
    advisoryLockMode: 'wait',
    singleTransaction: true,
    logger: SILENT,
  });
  return ran.map(({ name }) => name);
}
