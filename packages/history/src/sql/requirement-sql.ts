/** One row: the version of the server, such as 150003, and by its own name. */
export const READ_VERSION = `
SELECT current_setting('server_version_num')::integer AS number, current_setting('server_version') AS name`;

/** $1: schema. Names of its tables, without partitions. */
export const LIST_TABLES = `
SELECT relname AS name FROM pg_class
WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p', 'v') AND NOT relispartition`;

/** Migrations that ran, the first first. */
export const LIST_MIGRATIONS = 'SELECT name FROM herald.migrations ORDER BY run_on, id';

/** One row: what this user may do. */
export const READ_RIGHTS = `
SELECT has_table_privilege('herald.deliveries', 'SELECT') AND has_table_privilege('herald.transitions', 'SELECT')
    AND has_table_privilege('herald.audit', 'SELECT') AS reads,
  has_table_privilege('herald.deliveries', 'INSERT, UPDATE') AND has_table_privilege('herald.transitions', 'INSERT, UPDATE')
    AND has_table_privilege('herald.audit', 'INSERT, DELETE') AS writes,
  pg_has_role((SELECT relowner FROM pg_class WHERE oid = 'herald.deliveries'::regclass), 'USAGE')
    AND has_schema_privilege('herald', 'CREATE') AS makes_partitions`;
