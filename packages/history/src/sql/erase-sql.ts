/** $1: workspace   $2: Task. Its deliveries, with what endpoints answered. */
export const READ_ERASABLE = `SELECT created_at, id, transition_id, attempts FROM herald.deliveries
  WHERE task_id = $2 AND workspace_id = $1`;

/** $1: times of acceptance   $2: ids of deliveries   $3: their attempts without what was answered */
export const WRITE_ATTEMPTS = `UPDATE herald.deliveries d SET attempts = given.attempts
  FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS given (created_at, id, attempts)
  WHERE d.created_at = given.created_at AND d.id = given.id`;

/** $1: times of acceptance   $2: ids of transitions   $3: when they were erased. Those erased before keep their time. */
export const ERASE_TRANSITIONS = `UPDATE herald.transitions t SET body = NULL, erased_at = coalesce(t.erased_at, $3)
  FROM unnest($1::bigint[], $2::bytea[]) AS given (created_at, id)
  WHERE t.created_at = given.created_at AND t.id = given.id RETURNING t.erased_at`;
