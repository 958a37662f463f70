/** $1: name of a schema. One row when it exists. */
export const FIND_SCHEMA = 'SELECT oid FROM pg_namespace WHERE nspname = $1';
