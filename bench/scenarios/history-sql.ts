/** $1: rows   $2: created_at of the first   $3: ms in which they spread. A hundred receivers of ten workspaces. */
export const FILL_DELIVERIES = `
INSERT INTO herald.deliveries (created_at, settled_at, changed_at, tries, is_released, id, transition_id, endpoint_id,
  workspace_id, task_id, event, status, attempts)
SELECT at, at, at, 1, false, substring(sha256(n::text::bytea) for 20), substring(sha256((n / 10)::text::bytea) for 20),
  'wh_' || lpad((n % 100)::text, 26, '0'), 'ws_' || n % 10, 'task_' || lpad((n / 100)::text, 26, '0'), 'task.check_in',
  'delivered', '[{"at":1764000000000,"durationMs":12.3,"status":200,"answer":"ok","h":{"t":"text/plain"}}]'
FROM generate_series(0, $1::bigint - 1) AS n, LATERAL (SELECT $2::bigint + n * $3::bigint / $1::bigint AS at) AS time`;

/** $1: receiver   $2: rows */
export const FIRST_PAGE = `
SELECT * FROM herald.deliveries WHERE endpoint_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`;
